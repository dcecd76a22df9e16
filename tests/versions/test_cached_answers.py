"""What a cached function keeps is not what its source gives now, where it relies on what the program may change."""

import functools

import numpy as np
import pytest

import s2s

MODE = "a"


class Settings:
    mode = "a"


SETTINGS = Settings()


@functools.lru_cache
def chosen(n):
    return np.sin if MODE == "a" else np.cos


@functools.lru_cache
def name_of_chosen(n):
    return "sin" if SETTINGS.mode == "a" else "cos"


def function_after_the_same_global(x):
    scale = 1.0 if MODE == "a" else 2.0
    return np.sum(chosen(3)(x)) * scale


def text_after_the_same_attribute(x):
    scale = 1.0 if SETTINGS.mode == "a" else 2.0
    return np.sum(np.sin(x) if name_of_chosen(3) == "sin" else np.cos(x)) * scale


@pytest.fixture
def forgotten(monkeypatch):
    """The settings as they were, and nothing kept."""
    yield monkeypatch
    chosen.cache_clear()
    name_of_chosen.cache_clear()


@pytest.mark.parametrize("program", [function_after_the_same_global, text_after_the_same_attribute])
def test_what_was_kept_before_a_setting_changed_is_used(program, forgotten):
    x = np.array([0.1, 0.2, 0.3])
    derivative = s2s.grad(program)
    assert np.allclose(derivative(x), np.cos(x))
    forgotten.setattr(Settings, "mode", "b")
    forgotten.setitem(globals(), "MODE", "b")
    assert program(x) == 2.0 * np.sum(np.sin(x))  # as it was kept
    assert np.allclose(derivative(x), 2.0 * np.cos(x))
    assert np.allclose(s2s.grad(program)(x), 2.0 * np.cos(x))
    chosen.cache_clear()
    name_of_chosen.cache_clear()
    assert np.allclose(derivative(x), -2.0 * np.sin(x))
