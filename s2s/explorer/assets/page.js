"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const panes = { left: $("left"), right: $("right") };
const state = { mode: "", backend: "", stage: "final", ir: false, held: null, at: null, unit: null };
let variant, stage, parts = [], rows = [], rightOf = new Map(), found = [], now = -1;

const unique = (items) => [...new Set(items)];
const make = (tag, cls, text) => {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (text !== undefined) node.textContent = text;
  return node;
};
/** A number with the largest of these units that is not larger, from large to small. */
const inUnits = (value, units) => {
  const [size, unit] = units.find(([size]) => value >= size) || units[units.length - 1];
  return `${size === 1 && unit === "bytes" ? value : (value / size).toPrecision(3)} ${unit}`;
};
const seconds = (s) => inUnits(s, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]);
const bytes = (n) => inUnits(n, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "bytes"]]);
const unitOf = (number) => data.functions.find((unit) => unit.number === +number);

// --- lines ---

function lineOf(id, number, html, share) {
  const line = make("div", "line");
  line.dataset.id = id;
  line.append(make("span", "n", number), make("span", "m"));
  const percent = Math.round(Math.min(1, share) * 100); // of a function that calls itself, more than all
  line.append(make("span", "p", percent >= 1 ? `${percent} %` : ""));
  if (share > 0.005) line.style.setProperty("--heat", Math.min(1, share) ** 0.6);
  const text = make("span", "t");
  text.innerHTML = html;
  line.append(text);
  if (text.textContent.trim().startsWith("#")) line.classList.add("comment");
  return line;
}

function pill(line, cls, text, title) {
  const made = make("span", `pill ${cls}`, text);
  if (title) made.title = title;
  line.append(made);
}

const isFinal = () => !!stage && stage.name === "final";
const keptAt = (key) => (
  isFinal() ? parts.flatMap((part) => part.kept).filter((k) => k.left.includes(key)) : []);
const takesMemory = (kept) => kept.bytes !== 0;
const keptText = (kept) => (
  kept[0].bytes === null ? "kept" : `kept ${bytes(kept.reduce((sum, one) => sum + one.bytes, 0))}`);
const choice = (text) => (
  text.includes("straight through") ? "straight-through" : text.includes("remainder") ? "remainder" : "choice");

function showLeft() {
  const body = make("div", "body"), cost = variant.cost;
  const own = data.functions[0] ? data.functions[0].lines.map(([n]) => `${data.functions[0].number}:${n}`) : [];
  const total = cost ? own.reduce((sum, key) => sum + (cost.left[key] || 0), 0) || 1 : 1;
  for (const unit of data.functions) {
    const title = make("h3", "", unit.where);
    title.id = `unit-${unit.number}`;
    body.append(title);
    for (const [number, index] of unit.lines) {
      const key = `${unit.number}:${number}`, known = variant.facts[key];
      const line = lineOf(key, number, data.lines[index], cost ? (cost.left[key] || 0) / total : 0);
      if (known) {
        if (known.active) line.classList.add("active");
        const isActive = (name) => known.names.includes(name.textContent);
        for (const name of line.querySelectorAll(".v")) name.classList.toggle("act", isActive(name));
        const of = (kind) => known.facts.filter(([k]) => k === kind).map(([, text]) => text);
        for (const text of unique(of("policy").map(choice))) pill(line, "policy", text, of("policy").join("\n"));
        if (of("branch").length) pill(line, "branch", "branch", of("branch")[0]);
        for (const kind of ["recorded", "observed", "run time", "folded", "fusion", "loop"]) {
          if (of(kind).length) pill(line, "other", kind, of(kind).join("\n"));
        }
        if (of("kept").length && !keptAt(key).length) pill(line, "kept", "kept", of("kept").join("\n"));
      }
      const kept = keptAt(key).filter(takesMemory);
      if (kept.length) pill(line, "kept", keptText(kept), kept.map((k) => `as ${k.name}: ${k.what}`).join("\n"));
      body.append(line);
    }
  }
  panes.left.querySelector(".code").replaceChildren(body);
  $("about-left").textContent = cost ? `${seconds(cost.value)} a call` : variant.no_cost;
}

function showRight() {
  const code = panes.right.querySelector(".code");
  rightOf = new Map();
  rows = [];
  $("title-right").textContent = variant.mode;
  $("about-right").textContent = "";
  if (variant.refused !== null || variant.left_out) {
    code.replaceChildren(make("pre", "refusal", variant.left_out || variant.refused));
    return;
  }
  const cost = isFinal() ? variant.cost : null, body = make("div", "body");
  const total = cost ? sumOf(cost.right) || 1 : 1;
  for (const part of parts) {
    if (parts.length > 1) body.append(titleOf(part));
    body.append(...linesOf(part, total));
  }
  code.replaceChildren(body);
  const own = stageOf(variant).lines.length, said = [counted(own, "line")], others = variant.called.length;
  const ratio = cost ? cost.derivative / cost.value : 1;
  const times = ratio < 100 ? ratio.toPrecision(2) : Math.round(ratio);
  if (others) said.push(`calls ${counted(others, "derivative")}, ${counted(rows.length - own, "line")}`);
  if (cost) said.push(`${seconds(cost.derivative)} a call, ${times} times the function`);
  if (isFinal() && variant.total !== null && variant.kept.length) said.push(`keeps ${bytes(variant.total)}`);
  if (!isFinal() && stage.about) said.push(stage.about);
  $("about-right").textContent = said.join(" · ");
}

const sumOf = (times) => Object.values(times).reduce((a, b) => a + b, 0);
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** What stands above a derivative, where there are several. */
function titleOf(part) {
  const title = make("h3", "", part.name);
  if (part === variant) return title;
  const said = part.count ? `called ${counted(part.count, "time")} when it runs` : "called when it runs";
  const total = isFinal() && part.total ? ` · keeps ${bytes(part.total)} in the first call` : "";
  title.append(make("small", "", ` ${said}${total}${stageOf(part).name === "final" && !isFinal() ? " · as it runs" : ""}`));
  return title;
}

/** The lines of a derivative at the stage that is chosen, below those that are there. */
function linesOf(part, total) {
  const cost = isFinal() ? part.cost : null;
  return stageOf(part).lines.map(([index, from], k) => {
    const number = k + 1, id = rows.push({ part, number, from });
    const line = lineOf(id, number, data.lines[index], cost ? (cost.right[number] || 0) / total : 0);
    if (Array.isArray(from)) from.forEach((key) => rightOf.set(key, [...(rightOf.get(key) || []), id]));
    else line.classList.add(from === "bookkeeping" ? "own" : from);
    const kept = isFinal() ? part.kept.filter((one) => one.right[0] === number && takesMemory(one)) : [];
    if (kept.length) pill(line, "kept", keptText(kept), kept.map((one) => one.what).join("\n"));
    return line;
  });
}

// --- what belongs together ---

const placed = (side, id) => [side, side === "right" ? +id : id];
const lineAt = (side, id) => panes[side].querySelector(`.line[data-id="${id}"]`);
const fromOf = (id) => (rows[id - 1] ? rows[id - 1].from : "");
const keysOf = (id) => (Array.isArray(fromOf(id)) ? fromOf(id) : []);

/** The lines that belong to one: of the other pane, and kin. */
function related(side, id) {
  if (side === "right") {
    const keys = keysOf(id);
    const kin = unique(keys.flatMap((key) => rightOf.get(key) || []));
    return { left: keys, right: [], kin: kin.map((n) => ["right", n]) };
  }
  const callees = unique(data.functions.flatMap((unit) => unit.calls[id] || [])).map(unitOf);
  const inside = callees.flatMap((unit) => unit.lines.map(([n]) => `${unit.number}:${n}`));
  const kin = inside.filter((key) => rightOf.has(key)).map((key) => ["left", key]);
  inside.forEach((key) => (rightOf.get(key) || []).forEach((n) => kin.push(["right", n])));
  return { left: [], right: rightOf.get(id) || [], kin };
}

function light(place, isHeld) {
  const marks = ["lit", "kin", "at", "held"];
  for (const line of document.querySelectorAll(marks.map((m) => `.line.${m}`).join())) line.classList.remove(...marks);
  document.querySelectorAll(".ruler").forEach((ruler) => ruler.replaceChildren());
  state.at = place;
  if (!place) return tell(null);
  const [side, id] = place, lines = related(side, id);
  const mark = (which, line, cls) => {
    const node = lineAt(which, line);
    if (!node || node.classList.contains("lit") || node.classList.contains("at")) return;
    node.classList.add(cls);
    const code = panes[which].querySelector(".code"), tick = make("i");
    tick.style.top = `${(100 * node.offsetTop) / Math.max(1, code.scrollHeight)}%`;
    panes[which].querySelector(".ruler").append(tick);
  };
  mark(side, id, "at");
  if (isHeld) lineAt(side, id)?.classList.add("held");
  lines.left.forEach((key) => mark("left", key, "lit"));
  lines.right.forEach((n) => mark("right", n, "lit"));
  lines.kin.forEach(([which, line]) => mark(which, line, "kin"));
  tell(place);
}

const whatOf = ({ what, bytes: size }) => what + (size ? `, ${bytes(size)}` : "");

/** What is known of a line of the function: pairs of a word and a text. */
function toldOfLeft(id) {
  const known = variant.facts[id] || { facts: [] }, cost = variant.cost, count = (rightOf.get(id) || []).length;
  const where = count ? `in ${count} line${count > 1 ? "s" : ""} of the generated code` : "in no line of its own";
  const told = [[`line ${id.split(":")[1]}`, where + (known.active ? "; a derivative flows through it" : "")]];
  for (const one of keptAt(id)) {
    told.push([`kept as ${one.name}`, one.bytes === null ? "bytes are not known: nothing was run" : whatOf(one)]);
  }
  told.push(...known.facts);
  const back = cost && cost.back[id] ? `, ${seconds(cost.back[id])} in the derivative, ${Math.round((100 * cost.back[id]) / cost.timed)} % of a call` : "";
  if (cost && cost.left[id]) told.push(["takes", `${seconds(cost.left[id])} in the function${back}`]);
  return told;
}

/** The same of a line of the generated code. */
function toldOfRight(id) {
  const keys = keysOf(id), { part, number } = rows[id - 1], cost = isFinal() && part.cost;
  const named = keys.map((key) => `${unitOf(key.split(":")[0]).name}, line ${key.split(":")[1]}`);
  const other = fromOf(id) === "bookkeeping" ? "bookkeeping: it comes from no line of its own" : fromOf(id);
  const of = parts.length > 1 ? ` of ${part.name}` : "";
  const told = [[`line ${number}${of}`, keys.length ? `from ${named.join("; ")}` : other]];
  for (const one of isFinal() ? part.kept : []) {
    const many = one.bytes === null ? "" : `: ${whatOf(one)}`, { name } = one;
    if (one.right.includes(number)) told.push([name, `is kept for the reverse sweep${many}`]);
  }
  if (cost && cost.right[number]) told.push(["takes", `${seconds(cost.right[number])}, with the timer of lines on`]);
  return told;
}

function tell(place) {
  const hint = "Point at a line to see what it became, and what it came from.";
  const nothing = [["", variant.left_out ? "Left out." : variant.refused !== null ? "Refused in this mode." : hint]];
  nothing.push(...variant.rungs.map((rung) => ["", rung]));
  const told = !place ? nothing : place[0] === "left" ? toldOfLeft(place[1]) : toldOfRight(place[1]);
  $("details").replaceChildren(...told.map(([word, text]) => {
    const made = make("p");
    made.append(make("b", "", word), ` ${text}`);
    return made;
  }));
}

function intoView(side, id, block = "nearest") {
  const node = id !== undefined && lineAt(side, id), code = panes[side].querySelector(".code");
  if (!node) return;
  const top = node.offsetTop - code.scrollTop, bottom = top + node.offsetHeight;
  const above = block === "nearest" && top < 0 ? 0 : code.clientHeight / 3;
  if (top < 0 || bottom > code.clientHeight) code.scrollTop = node.offsetTop - above;
}

/** The first line of a pane among related ones. */
const firstOf = (lines, side) => lines[side][0] ?? (lines.kin.find(([which]) => which === side) || [])[1];

function hold(place) {
  state.held = place;
  light(place, !!place);
  if (place) {
    const [side, id] = place, lines = related(side, id), other = side === "left" ? "right" : "left";
    intoView(side, id);
    intoView(other, firstOf(lines, other), "third");
  }
  remember();
}

for (const [side, pane] of Object.entries(panes)) {
  const placeOf = (event) => {
    const line = event.target.closest(".line");
    return line && placed(side, line.dataset.id);
  };
  pane.addEventListener("mouseover", (event) => {
    const place = placeOf(event);
    if (place && !state.held) light(place, false);
  });
  pane.addEventListener("mouseleave", () => { if (!state.held) light(null); });
  pane.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place) hold(state.held && String(state.held) === String(place) ? null : place);
  });
}

// --- switches ---

const variantOf = (mode, backend) => data.variants.find((v) => v.mode === mode && v.backend === backend);

function fill(select, values, chosen) {
  const options = (wanted) => (
    values.filter(([, , group]) => group === wanted).map(([value, text]) => new Option(text, value)));
  const groups = unique(values.map(([, , group]) => group));
  select.replaceChildren(...groups.flatMap((group) => {
    if (!group) return options(group);
    const made = make("optgroup");
    made.label = group;
    made.append(...options(group));
    return [made];
  }));
  select.value = chosen;
}

/** Those of a part, in the form that is chosen, in their order. */
const stagesOf = (part) => part.stages.filter((s) => s.form === (state.ir ? "ir" : "python"));

/** The stages of the derivative, and those that only what it calls has, where they were: without its lines. */
function allStages() {
  const all = stagesOf(variant);
  for (const part of variant.called) {
    let at = -1;
    for (const one of stagesOf(part)) {
      const there = all.findIndex((s) => s.name === one.name);
      if (there < 0) all.splice(at + 1, 0, one);
      at = there < 0 ? at + 1 : there;
    }
  }
  return all;
}

/** What a part has at the stage that is chosen: what the passes up to there have made of it. */
function stageOf(part) {
  const own = stagesOf(part), all = allStages().map((s) => s.name), limit = all.indexOf(stage.name);
  const before = own.filter((s) => all.indexOf(s.name) <= limit);
  return before[before.length - 1] || own[0] || part.stages[part.stages.length - 1];
}

function update(changes) {
  Object.assign(state, changes);
  variant = variantOf(state.mode, state.backend) || variantOf(state.mode, data.variants[0].backend) || data.variants[0];
  state.mode = variant.mode;
  state.backend = variant.backend;
  parts = [variant, ...variant.called];
  const stages = allStages();
  stage = stages.find((s) => s.name === state.stage) || stages[stages.length - 1];
  const missing = (v) => (!v ? "" : v.refused !== null ? " (refused)" : v.left_out ? " (left out)" : "");
  const refused = (mode) => missing(variantOf(mode, state.backend));
  fill($("mode"), unique(data.variants.map((v) => v.mode)).map((m) => [m, m + refused(m)]), state.mode);
  fill($("backend"), unique(data.variants.map((v) => v.backend)).map((b) => [b, b]), state.backend);
  const names = new Map(stages.map((s) => [s.name, s]));
  const derived = variant.mode === "primal" ? "function" : "derivative";
  const groupOf = (s) => (s.of === "primal" ? "of the function" : `of the ${derived}`);
  fill($("stage"), [...names.values()].map((s) => [s.name, s.name, groupOf(s)]), stage ? stage.name : "");
  if (!names.has(state.stage) && stage) state.stage = stage.name;
  const index = $("stage").selectedIndex;
  $("earlier").disabled = index <= 0;
  $("later").disabled = index >= $("stage").options.length - 1;
  $("ir").checked = state.ir;
  $("ir").disabled = !variant.stages.some((s) => s.form === "ir");
  look();
  $("cost").disabled = !variant.cost;
  $("cost").parentNode.title = variant.no_cost;
  showLeft();
  showRight();
  if (state.held && !lineAt(...state.held)) state.held = null;
  light(state.held, !!state.held);
  search(false);
  remember();
}

function look() {
  document.body.classList.toggle("no-comments", !$("comments").checked);
  document.body.classList.toggle("costed", $("cost").checked && !!variant.cost);
}

/** Another text at the right: what is held there is let go. */
const change = (changes) => update({ ...changes, held: state.held && state.held[0] === "left" ? state.held : null });

function step(id, by) {
  const select = $(id), count = select.options.length;
  select.selectedIndex = (select.selectedIndex + by + count) % count;
  select.dispatchEvent(new Event("change"));
}

function stageBy(by) {
  const next = $("stage").selectedIndex + by;
  if (next >= 0 && next < $("stage").options.length) step("stage", by);
}

$("mode").addEventListener("change", (e) => change({ mode: e.target.value }));
$("backend").addEventListener("change", (e) => change({ backend: e.target.value }));
$("stage").addEventListener("change", (e) => change({ stage: e.target.value }));
$("ir").addEventListener("change", (e) => change({ ir: e.target.checked }));
$("comments").addEventListener("change", look);
$("cost").addEventListener("change", look);
$("earlier").addEventListener("click", () => stageBy(-1));
$("later").addEventListener("click", () => stageBy(1));
$("help").addEventListener("click", () => $("keys").showModal());

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = (name) => { document.documentElement.dataset.theme = name; };
theme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

// --- the tree of calls ---

function showTree() {
  if (data.functions.length < 2) return;
  $("tree").replaceChildren(...data.functions.map((unit) => {
    const button = make("button", "", unit.name);
    button.type = "button";
    button.dataset.deep = "› ".repeat(unit.depth);
    button.title = unit.where;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const isOn = button.getAttribute("aria-pressed") !== "true";
      $("tree").querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", "false"));
      hold(null);
      if (!isOn) return;
      button.setAttribute("aria-pressed", "true");
      panes.left.querySelector(".code").scrollTop = $(`unit-${unit.number}`).offsetTop;
      const numbers = unit.lines.flatMap(([n]) => rightOf.get(`${unit.number}:${n}`) || []);
      unique(numbers).forEach((n) => lineAt("right", n).classList.add("kin"));
      intoView("right", Math.min(...numbers), "third");
    });
    return button;
  }));
}

// --- search ---

function search(isMoved) {
  const text = $("search").value.toLowerCase();
  found.forEach((line) => line.classList.remove("found", "now"));
  const has = (line) => line.querySelector(".t").textContent.toLowerCase().includes(text);
  found = text ? [...document.querySelectorAll(".line")].filter(has) : [];
  found.forEach((line) => line.classList.add("found"));
  now = -1;
  $("matches").textContent = text ? `${found.length} found` : "";
  if (isMoved && found.length) go(1);
}

function go(by) {
  if (!found.length) return;
  found[now]?.classList.remove("now");
  now = (now + by + found.length) % found.length;
  const line = found[now], side = panes.left.contains(line) ? "left" : "right";
  line.classList.add("now");
  intoView(side, line.dataset.id, "third");
  $("matches").textContent = `${now + 1} of ${found.length}`;
}

$("search").addEventListener("input", () => search(true));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { event.target.value = ""; search(false); event.target.blur(); }
  event.stopPropagation();
});

// --- keys ---

function move(by) {
  const [side, id] = state.at || ["left", null];
  const lines = [...panes[side].querySelectorAll(".line")].filter((l) => l.offsetParent !== null);
  const at = lines.findIndex((l) => l.dataset.id === String(id));
  const next = lines[Math.max(0, Math.min(lines.length - 1, at + by))];
  if (next) hold(placed(side, next.dataset.id));
}

function cross(side) {
  if (!state.at) return hold(side === "left" ? [side, panes.left.querySelector(".line").dataset.id] : [side, 1]);
  if (state.at[0] === side) return;
  const other = firstOf(related(...state.at), side);
  if (other !== undefined) hold([side, other]);
}

const keys = {
  ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
  ArrowRight: () => cross("right"), ArrowLeft: () => cross("left"),
  Enter: () => state.at && hold(state.held ? null : state.at), Escape: () => hold(null),
  "/": () => $("search").focus(), n: () => go(1), N: () => go(-1),
  m: () => step("mode", 1), b: () => step("backend", 1), "[": () => stageBy(-1), "]": () => stageBy(1),
  i: () => $("ir").click(), c: () => $("comments").click(), h: () => $("cost").click(), t: () => $("theme").click(),
  "?": () => $("keys").showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open || event.target.closest("select")) return;
  if (event.key === "Enter" && event.target.closest("button, input")) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// --- the address says what is shown ---

function remember() {
  const said = new URLSearchParams({ mode: state.mode, backend: state.backend, stage: state.stage });
  if (state.ir) said.set("ir", "1");
  if (state.held) said.set("at", state.held.join("."));
  try { history.replaceState(null, "", `#${said}`); } catch { /* a page inside another one has no address */ }
}

const asked = new URLSearchParams(location.hash.slice(1));
const first = data.variants.find((v) => v.refused === null) || data.variants[0];
showTree();
const wanted = { mode: first.mode, backend: first.backend, stage: "final", ...Object.fromEntries(asked) };
update({ mode: wanted.mode, backend: wanted.backend, stage: wanted.stage, ir: wanted.ir === "1" });
const [side, id] = (asked.get("at") || "").split(".");
if (id && panes[side] && lineAt(side, id)) hold(placed(side, id));
else intoView("left", panes.left.querySelector(".line.active")?.dataset.id, "third"); // below a long docstring
