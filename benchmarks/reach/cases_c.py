"""Signals, robotics, geometry, images, curves, GPs, ODEs and FEM, quantum, colour, materials, power, biology."""

import numpy as np
from cases import case, steps

# --- signals and acoustics -------------------------------------------------------------------------------------

@case("librosa", "hz_to_mel, mel_to_hz, power_to_db, A_weighting", "plain")
def librosa_convert():
    import librosa

    def loss(x):
        return (
            librosa.hz_to_mel(x).sum()
            + librosa.A_weighting(x).sum()
            + librosa.power_to_db(x * x, ref=1.0, top_db=None).sum()
        )

    return loss, np.array([340.0, 880.0, 2500.0, 6100.0])


@case("librosa", "stft magnitude of a signal", "library")
def librosa_stft():
    import librosa

    def loss(x):
        S = librosa.stft(x, n_fft=16, hop_length=8)
        return (abs(S) ** 2).sum()
    return loss, np.sin(np.arange(32) * 0.9) + 0.1


@case("librosa", "feature.spectral_centroid, spectral_flatness of a spectrogram", "library")
def librosa_centroid():
    import librosa

    def loss(x):
        S = x.reshape(9, 3)
        return (
            librosa.feature.spectral_centroid(S=S, sr=8000).sum() * 1e-3 + librosa.feature.spectral_flatness(S=S).sum()
        )

    return loss, 0.5 + np.abs(np.sin(np.arange(27) * 1.1))


@case("librosa", "feature.mfcc of a log mel spectrogram (dct)", "library")
def librosa_mfcc():
    import librosa

    def loss(x):
        M = librosa.feature.mfcc(S=x.reshape(8, 3), n_mfcc=4)
        return (M * M).sum()
    return loss, np.sin(np.arange(24) * 0.6)


@case("pyloudnorm", "Meter.integrated_loudness of a signal", "objects")
def pyloudnorm_loudness():
    import pyloudnorm as pyln
    meter = pyln.Meter(200)

    def loss(x):
        return meter.integrated_loudness(x)
    return loss, np.sin(np.arange(160) * 0.9) * 0.5


@case("pyfar", "Signal time / freq round trip, multiplication of audio objects", "objects")
def pyfar_signal():
    import pyfar as pf

    def loss(x):
        s = pf.Signal(x, 44100)
        t = s * s
        return (abs(t.freq) ** 2).sum()
    return loss, np.sin(np.arange(16) * 0.8)


@case("sfs", "fd.source.point: pressure at points in source position", "library")
def sfs_point():
    import sfs
    grid = [np.array([0.5, 1.0, 2.0]), np.array([0.3, 0.1, -1.0]), np.array([0.0, 0.2, 0.4])]

    def loss(x):
        p = sfs.fd.source.point(2 * np.pi * 300.0, x, grid)
        return p.real.sum() * 10.0 + (abs(p) ** 2).sum()
    return loss, np.array([-0.4, 0.9, 0.2])


@case("sfs", "fd.wfs.line_2d driving function, util.sph2cart", "library")
def sfs_wfs():
    import sfs
    array = sfs.array.circular(6, 1.5)

    def loss(x):
        d, _sel, _src = sfs.fd.wfs.point_3d(2 * np.pi * 300.0, array.x, array.n, x)
        return (abs(d) ** 2).sum()
    return loss, np.array([-0.4, 2.9, 0.2])


@case("padasip", "FilterLMS.run: errors in the input signal", "iterative")
def padasip_lms():
    import padasip as pa
    X = np.sin(np.arange(24) * 0.7).reshape(8, 3)

    def loss(x):
        f = pa.filters.FilterLMS(3, mu=0.1, w="zeros")
        _y, e, _w = f.run(x, X)
        return (e * e).sum()
    return loss, np.cos(np.arange(8) * 0.5)


@case("padasip", "FilterRLS.run: weights in the signal", "iterative")
def padasip_rls():
    import padasip as pa
    X = np.sin(np.arange(24) * 0.7).reshape(8, 3)

    def loss(x):
        f = pa.filters.FilterRLS(3, mu=0.98, w="zeros")
        _y, _e, w = f.run(x, X)
        return (w * w).sum()
    return loss, np.cos(np.arange(8) * 0.5)




@case("similaritymeasures", "frechet_dist, dtw, curve_length_measure of two curves", "iterative")
def similarity_curves():
    import similaritymeasures as sm
    a = np.column_stack([np.linspace(0.0, 1.0, 6), np.linspace(0.0, 1.0, 6) ** 2])

    def loss(x):
        b = x.reshape(6, 2)
        d, _m = sm.dtw(a, b)
        return d + sm.curve_length_measure(a, b) + sm.mse(a, b)
    return loss, np.array([0.02, 0.1, 0.25, 0.13, 0.41, 0.3, 0.66, 0.33, 0.78, 0.75, 1.04, 0.9])


@case("similaritymeasures", "area_between_two_curves, pcm", "iterative")
def similarity_area():
    import similaritymeasures as sm
    a = np.column_stack([np.linspace(0.0, 1.0, 6), np.linspace(0.0, 1.0, 6) ** 2])

    def loss(x):
        return sm.area_between_two_curves(a, x.reshape(6, 2))
    return loss, np.array([0.02, 0.1, 0.25, 0.23, 0.41, 0.4, 0.66, 0.63, 0.78, 0.95, 1.04, 1.2])


@case("PeakUtils", "baseline (iterated polynomial fits)", "iterative")
def peakutils_baseline():
    import peakutils

    def loss(x):
        b = peakutils.baseline(x, 2, max_it=3, tol=1e-12)
        return (b * b).sum()
    return loss, 1.0 + np.abs(np.sin(np.arange(14) * 0.9)) + 0.05 * np.arange(14)


@case("csaps", "CubicSmoothingSpline values in the data", "library")
def csaps_values():
    from csaps import csaps
    t = np.array([0.0, 0.4, 1.1, 1.9, 2.5, 3.3])

    def loss(x):
        y = csaps(t, x, np.array([0.2, 1.3, 2.9]), smooth=0.7)
        return (y * y).sum()
    return loss, np.array([0.1, 0.9, 1.2, 0.4, -0.3, 0.8])


@case("PyWavelets", "dwt / idwt coefficients (compiled)", "library")
def pywt_dwt():
    import pywt

    def loss(x):
        a, d = pywt.dwt(x, "db2")
        t = pywt.threshold(a, 0.2, mode="soft")
        return (t * t).sum() + (d * d).sum()
    return loss, np.sin(np.arange(12) * 0.8)


@case("EntropyHub", "DistEn-free: SpecEn of a signal", "library")
def entropyhub_specen():
    import EntropyHub as EH

    def loss(x):
        s, b = EH.SpecEn(x, N=33)
        return s + b
    return loss, np.sin(np.arange(24) * 0.8) + 0.3 * np.cos(np.arange(24) * 2.1)


@case("specparam", "modes.funcs gaussian, lorentzian, skewed functions with *params", "containers")
def specparam_functions():
    from specparam.modes.funcs import gaussian_function, lorentzian_function
    f = np.linspace(2.0, 30.0, 8)

    def loss(x):
        return (gaussian_function(f, *x[:6]) ** 2).sum() + lorentzian_function(f, *x[6:9]).sum()
    return loss, np.array([6.0, 0.8, 1.5, 19.0, 0.5, 3.0, 1.0, 4.0, 1.3])


@case("heartpy", "analysis.calc_ts_measures-like: filtering.hampel / scale_data", "library")
def heartpy_scale():
    import heartpy

    def loss(x):
        y = heartpy.scale_data(x, 0, 100)
        z = heartpy.enhance_peaks(x, iterations=2)
        return (y * y).sum() * 1e-4 + (z * z).sum() * 1e-4
    return loss, np.sin(np.arange(12) * 0.8) + 0.03 * np.arange(12)


# --- robotics, geometry ----------------------------------------------------------------------------------------

@case("spatialmath-python", "SE3 composition and point transform in angles", "objects")
def spatialmath_se3():
    from spatialmath import SE3

    def loss(x):
        T = SE3.Rx(x[0]) * SE3.Trans(x[1], 0.2, x[2]) * SE3.Rz(x[3])
        return (T.A * np.arange(16.0).reshape(4, 4)).sum()
    return loss, np.array([0.4, 1.2, -0.7, 0.9])


@case("spatialmath-python", "base.rpy2r, trexp, tr2rpy, qqmul", "plain")
def spatialmath_base():
    from spatialmath import base as b

    def loss(x):
        R = b.rpy2r(x[0], x[1], x[2])
        S = b.trexp(x[3:6])
        rpy = b.tr2rpy(R @ S)
        q = b.r2q(R)
        return rpy[0] * 2.0 + rpy[1] * rpy[2] + q[1]
    return loss, np.array([0.1, 0.4, -0.3, 0.5, 0.2, 0.6])


@case("spatialmath-python", "UnitQuaternion slerp / vector rotation", "objects")
def spatialmath_quaternion():
    from spatialmath import UnitQuaternion

    def loss(x):
        q = UnitQuaternion.Rx(x[0]) * UnitQuaternion.Ry(x[1])
        v = q * np.array([0.3, 0.5, 0.9])
        return v[0] * 2.0 + v[1] * v[2]
    return loss, np.array([0.4, 1.2])


@case("ikpy", "Chain.forward_kinematics of DH / URDF links in joint angles", "objects")
def ikpy_forward():
    from ikpy.chain import Chain
    from ikpy.link import OriginLink, URDFLink
    chain = Chain(
        [
            OriginLink(),
            URDFLink("a", origin_translation=[0.1, 0.0, 0.3], origin_orientation=[0, 0.2, 0], rotation=[0, 1, 0]),
            URDFLink("b", origin_translation=[0.4, 0.0, 0.0], origin_orientation=[0, 0, 0.1], rotation=[0, 0, 1]),
            URDFLink("c", origin_translation=[0.3, 0.1, 0.0], origin_orientation=[0, 0, 0], rotation=[1, 0, 0]),
        ],
        active_links_mask=[False, True, True, True],
    )

    def loss(x):
        T = chain.forward_kinematics([0.0, x[0], x[1], x[2]])
        return (T * np.arange(16.0).reshape(4, 4)).sum()
    return loss, np.array([0.3, -0.6, 0.9])


@case("ikpy", "utils.geometry rpy_matrix, axis_rotation_matrix", "plain")
def ikpy_geometry():
    from ikpy.utils.geometry import axis_rotation_matrix, rpy_matrix, to_transformation_matrix

    def loss(x):
        R = rpy_matrix(x[0], x[1], x[2]) @ axis_rotation_matrix([0.6, 0.0, 0.8], x[3])
        return (to_transformation_matrix(x[:3], R) * np.arange(16.0).reshape(4, 4)).sum()
    return loss, np.array([0.3, -0.6, 0.9, 0.4])


@case("pytransform3d", "rotations.matrix_from_compact_axis_angle, quaternion_slerp", "plain")
def pytransform3d_rotations():
    from pytransform3d import rotations as pr

    def loss(x):
        R = pr.matrix_from_compact_axis_angle(x[:3])
        q = pr.quaternion_slerp(pr.quaternion_from_matrix(R), pr.quaternion_from_compact_axis_angle(x[3:]), 0.3)
        return (R * np.arange(9.0).reshape(3, 3)).sum() + q[0] * q[1]
    return loss, np.array([0.3, -0.6, 0.9, 0.4, 0.1, 0.7])


@case("pytransform3d", "transformations.transform_from_exponential_coordinates, dual quaternions", "plain")
def pytransform3d_transforms():
    from pytransform3d import transformations as pt

    def loss(x):
        T = pt.transform_from_exponential_coordinates(x)
        d = pt.dual_quaternion_from_transform(T)
        return (T * np.arange(16.0).reshape(4, 4)).sum() + (d * np.arange(8.0)).sum()
    return loss, np.array([0.3, -0.6, 0.9, 0.4, 0.1, 0.7])


@case("pytransform3d", "TransformManager.get_transform: graph of frames", "containers")
def pytransform3d_manager():
    from pytransform3d.transform_manager import TransformManager
    from pytransform3d.transformations import transform_from_pq

    def loss(x):
        tm = TransformManager()
        tm.add_transform("a", "b", transform_from_pq(x[:7]))
        tm.add_transform("c", "b", transform_from_pq(x[7:]))
        return (tm.get_transform("a", "c") * np.arange(16.0).reshape(4, 4)).sum()
    return loss, np.array([0.3, -0.6, 0.9, 0.8, 0.1, 0.5, 0.2, 1.0, 0.2, 0.1, 0.7, 0.6, -0.3, 0.1])


@case("pybotics", "geometry.vector_2_matrix, matrix_2_vector", "plain")
def pybotics_geometry():
    from pybotics.geometry import matrix_2_vector, vector_2_matrix

    def loss(x):
        T = vector_2_matrix(x)
        return (matrix_2_vector(T @ T) * np.arange(1.0, 7.0)).sum()
    return loss, np.array([0.3, -0.6, 0.9, 0.2, 0.1, 0.4])


@case("pybotics", "Robot.fk of a DH model in the joints", "objects")
def pybotics_fk():
    from pybotics.predefined_models import ur10
    from pybotics.robot import Robot
    robot = Robot.from_parameters(ur10())

    def loss(x):
        return (robot.fk(x) * np.arange(16.0).reshape(4, 4)).sum() * 1e-3
    return loss, np.array([0.3, -0.6, 0.9, 0.2, 0.1, 0.4])


@case("quaternionic", "quaternionic.array products, rotate (ndarray subclass, numba gufuncs)", "subclass")
def quaternionic_product():
    import quaternionic

    def loss(x):
        a = quaternionic.array(x[:4])
        b = quaternionic.array(x[4:])
        c = a * b * a.conjugate()
        return float((c.ndarray * np.arange(4.0)).sum())
    return loss, np.array([0.7, 0.2, -0.3, 0.5, 0.4, 0.9, 0.1, -0.6])


@case("clifford", "MultiVector geometric product and rotor sandwich", "subclass")
def clifford_rotor():
    from clifford.g3 import e12, layout

    def loss(x):
        v = layout.MultiVector(value=x)
        r = 0.8 + 0.6 * e12
        w = r * v * ~r
        return (w.value * np.arange(8.0)).sum()
    return loss, np.array([0.1, 0.7, 0.2, -0.3, 0.5, 0.4, 0.9, 0.1])


@case("scikit-spatial", "Line / Plane / Point distances (ndarray subclasses)", "subclass")
def skspatial_line():
    from skspatial.objects import Line, Plane, Point

    def loss(x):
        line = Line(point=x[:3], direction=x[3:6])
        plane = Plane(point=[0, 0, 0], normal=x[6:9])
        p = plane.intersect_line(line)
        return float(p.distance_point([0.1, 0.2, 0.3]) + line.distance_point(Point([1.0, 2.0, 0.5])))
    return loss, np.array([0.7, 0.2, -0.3, 0.5, 0.4, 0.9, 0.3, 0.8, 0.6])


@case("scikit-spatial", "Triangle area, angles; Vector.angle_between", "subclass")
def skspatial_triangle():
    from skspatial.objects import Triangle, Vector

    def loss(x):
        t = Triangle(x[:3], x[3:6], x[6:9])
        return float(t.area() + t.angle("A") + Vector(x[:3]).angle_between(x[3:6]))
    return loss, np.array([0.7, 0.2, -0.3, 0.5, 1.4, 0.9, 0.3, -0.8, 0.6])


@case("nibabel", "quaternions.quat2mat, eulerangles.euler2mat, mult", "plain")
def nibabel_quaternions():
    from nibabel.eulerangles import euler2mat, euler2quat
    from nibabel.quaternions import mult, quat2mat

    def loss(x):
        M = quat2mat(mult(x[:4], euler2quat(x[4], x[5], x[6])))
        return (M * np.arange(9.0).reshape(3, 3)).sum() + euler2mat(x[4], x[5], x[6])[0, 1]
    return loss, np.array([0.7, 0.2, -0.3, 0.5, 0.3, 0.5, -0.2])


@case("scikit-kinematics", "quat.q_mult, rotate_vector, deg2quat", "plain")
def skinematics_quat():
    from skinematics import quat

    def loss(x):
        q = quat.q_mult(x[:4], quat.deg2quat(x[4:7] * 10.0))
        return (q * np.arange(4.0)).sum()
    return loss, np.array([0.7, 0.2, -0.3, 0.5, 1.1, 0.4, 0.9])


@case("navpy", "lla2ecef, ecef2ned, angle2dcm", "plain")
def navpy_lla():
    import navpy

    def loss(x):
        e = navpy.lla2ecef(x[0], x[1], x[2])
        n = navpy.lla2ned(x[0], x[1], x[2], 47.0, 8.0, 400.0)
        R = navpy.angle2dcm(x[3], x[4], x[5])
        return e[0] * 1e-6 + (n * n).sum() * 1e-9 + R[0, 1] + R[2, 0]
    return loss, np.array([47.3, 8.2, 520.0, 0.3, 0.4, 0.5])


# --- images ----------------------------------------------------------------------------------------------------

@case("scikit-image", "color.rgb2lab, rgb2hsv of an image", "library")
def skimage_rgb2lab():
    from skimage import color

    def loss(x):
        return (color.rgb2lab(x.reshape(2, 2, 3)) ** 2).sum() * 1e-3 + color.rgb2hsv(x.reshape(2, 2, 3)).sum()
    return loss, np.array([0.2, 0.5, 0.7, 0.9, 0.3, 0.1, 0.4, 0.6, 0.25, 0.75, 0.15, 0.55])


@case("scikit-image", "metrics.structural_similarity of an image", "library")
def skimage_ssim():
    from skimage.metrics import structural_similarity
    ref = np.abs(np.sin(np.arange(81.0))).reshape(9, 9)

    def loss(x):
        return structural_similarity(x.reshape(9, 9), ref, win_size=5, data_range=1.0)
    return loss, np.abs(np.sin(np.arange(81.0) + 0.1)) * 0.9


@case("scikit-image", "filters.sobel, laplace, gaussian of an image", "library")
def skimage_filters():
    from skimage import filters

    def loss(x):
        im = x.reshape(6, 6)
        return (filters.sobel(im) ** 2).sum() + (filters.gaussian(im, sigma=1.0) ** 2).sum()
    return loss, 0.5 + 0.4 * np.sin(np.arange(36.0) * 1.7)


@case("scikit-image", "restoration.denoise_tv_chambolle / richardson_lucy", "iterative")
def skimage_richardson_lucy():
    from skimage.restoration import richardson_lucy
    psf = np.array([[0.0, 0.1, 0.0], [0.1, 0.6, 0.1], [0.0, 0.1, 0.0]])

    def loss(x):
        return (richardson_lucy(x.reshape(6, 6), psf, num_iter=3, clip=False) ** 2).sum()
    return loss, 0.5 + 0.4 * np.sin(np.arange(36.0) * 1.7)


@case("scikit-image", "exposure.adjust_sigmoid, adjust_gamma", "library")
def skimage_exposure():
    from skimage import exposure

    def loss(x):
        im = x.reshape(3, 3)
        return (exposure.adjust_sigmoid(im, cutoff=0.4, gain=5.0) ** 2).sum() + exposure.adjust_gamma(im, 1.7).sum()
    return loss, np.array([0.2, 0.5, 0.7, 0.9, 0.3, 0.1, 0.4, 0.6, 0.25])


@case("dipy", "reconst.dti fractional_anisotropy, mode, geodesic anisotropy", "plain")
def dipy_fa():
    from dipy.reconst.dti import fractional_anisotropy, linearity, mode, sphericity

    def loss(x):
        return fractional_anisotropy(x[:3]) + linearity(x[:3]) * sphericity(x[:3]) + mode(x[3:].reshape(3, 3))
    return loss, np.array([1.7, 0.6, 0.3, 1.2, 0.1, 0.3, 0.1, 0.7, 0.2, 0.3, 0.2, 0.5])


@case("dipy", "core.geometry sphere2cart, compose_matrix, euler_matrix", "plain")
def dipy_geometry():
    from dipy.core.geometry import cart2sphere, euler_matrix, rodrigues_axis_rotation, sphere2cart

    def loss(x):
        a, b, c = sphere2cart(x[0], x[1], x[2])
        r, th, ph = cart2sphere(a + 0.1, b, c)
        R = rodrigues_axis_rotation(x[3:6], 30.0)
        return r * th * ph + (R * np.arange(9.0).reshape(3, 3)).sum() + euler_matrix(x[0], x[1], x[2])[0, 2]
    return loss, np.array([1.2, 0.7, 0.4, 0.3, 0.5, 0.8])


# --- curve fitting, splines, reflectometry, GPs ----------------------------------------------------------------

@case("symfit", "Model evaluation (sympy lambdify) in the parameters", "objects")
def symfit_model():
    from symfit import Model, Parameter, exp, variables
    a, b = Parameter("a"), Parameter("b")
    t, y = variables("t, y")
    model = Model({y: a * exp(-b * t)})
    tt = np.array([0.0, 0.5, 1.0, 2.0])

    def loss(x):
        return (model(t=tt, a=x[0], b=x[1]).y ** 2).sum()
    return loss, np.array([1.4, 0.7])


@case("pwlf", "PiecewiseLinFit.fit_with_breaks and predict in the data", "library")
def pwlf_fit():
    import pwlf
    t = np.linspace(0.0, 1.0, 8)

    def loss(x):
        m = pwlf.PiecewiseLinFit(t, x)
        ssr = m.fit_with_breaks([0.0, 0.4, 1.0])
        return ssr + m.predict(np.array([0.2, 0.7])).sum()
    return loss, np.array([0.1, 0.3, 0.2, 0.6, 0.9, 1.4, 1.2, 1.9])


@case("splipy", "Curve evaluate, length in the control points", "objects")
def splipy_curve():
    from splipy import BSplineBasis, Curve
    basis = BSplineBasis(3, [0, 0, 0, 1, 2, 2, 2])

    def loss(x):
        c = Curve(basis, x.reshape(4, 2))
        p = c(np.array([0.3, 1.1, 1.7]))
        return (p * p).sum() + c.length()
    return loss, np.array([0.0, 0.1, 0.9, 0.7, 1.8, 0.2, 2.6, 1.1])


@case("geomdl", "BSpline.Curve evaluate_single in the control points", "objects")
def geomdl_curve():
    from geomdl import BSpline

    def loss(x):
        c = BSpline.Curve()
        c.degree = 2
        c.ctrlpts = [[x[0], x[1]], [x[2], x[3]], [x[4], x[5]], [x[6], x[7]]]
        c.knotvector = [0, 0, 0, 0.5, 1, 1, 1]
        p = c.evaluate_single(0.3)
        return p[0] * p[0] + 2.0 * p[1]
    return loss, np.array([0.0, 0.1, 0.9, 0.7, 1.8, 0.2, 2.6, 1.1])


@case("geomdl", "helpers.basis_function, linalg, NURBS derivatives", "containers")
def geomdl_helpers():
    from geomdl import helpers, linalg

    def loss(x):
        b = helpers.basis_function(2, [0, 0, 0, 0.5, 1, 1, 1], 2, x[0])
        v = linalg.vector_cross([x[1], x[2], x[3]], [0.3, 0.1, 0.9])
        return b[0] * 2.0 + b[1] * b[2] + linalg.vector_magnitude(v) + linalg.vector_dot(v, [1.0, 2.0, 3.0])
    return loss, np.array([0.3, 1.2, 0.4, 0.6])


@case("bezier", "hazmat.curve_helpers evaluate_multi, get_curvature, compute_length", "iterative")
def bezier_curve():
    from bezier.hazmat.curve_helpers import elevate_nodes, evaluate_hodograph, evaluate_multi, get_curvature

    def loss(x):
        n = np.asfortranarray(x.reshape(2, 4))
        p = evaluate_multi(n, np.array([0.2, 0.7]))
        k = get_curvature(n, evaluate_hodograph(0.4, n), 0.4)
        return (p * p).sum() + k + (elevate_nodes(n) ** 2).sum()
    return loss, np.array([0.0, 0.9, 1.8, 2.6, 0.1, 0.7, 0.2, 1.1])


@case("bezier", "Curve.evaluate_multi / locate (objects, compiled speedup)", "objects")
def bezier_object():
    import bezier

    def loss(x):
        c = bezier.Curve(x.reshape(2, 4), degree=3)
        return (c.evaluate_multi(np.array([0.2, 0.7])) ** 2).sum() + c.length
    return loss, np.array([0.0, 0.9, 1.8, 2.6, 0.1, 0.7, 0.2, 1.1])


@case("refnx", "reflect._reflect.abeles: neutron reflectivity in the slab model", "library")
def refnx_abeles():
    from refnx.reflect._reflect import abeles
    q = np.array([0.01, 0.03, 0.08, 0.15])

    def loss(x):
        layers = np.zeros((3, 4))
        w = (layers + np.array([[0.0, 0, 0, 0], [1.0, 1, 0, 1], [0, 1, 0, 1]])) * x.reshape(3, 4)
        return (abeles(q, w) ** 2).sum()
    return loss, np.array([0.1, 0.1, 0.1, 0.1, 150.0, 3.47, 0.01, 3.0, 0.2, 2.07, 0.0, 4.0]), steps(1e-3)(loss)


@case("refnx", "ReflectModel of a Structure with Parameters", "objects")
def refnx_model():
    from refnx.reflect import SLD, ReflectModel
    q = np.array([0.01, 0.03, 0.08, 0.15])

    def loss(x):
        s = SLD(0.0) | SLD(3.47)(x[0], x[1]) | SLD(2.07)(0, 3.0)
        m = ReflectModel(s, bkg=x[2], dq=0.0)
        return m.model(q).sum()
    return loss, np.array([150.0, 3.0, 0.01]), steps(1e-3)(loss)


@case("bumps", "curve.Curve nllf in the parameters", "objects")
def bumps_curve():
    from bumps.names import Curve, FitProblem
    t = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.array([1.0, 2.9, 5.2, 7.1])

    def line(t, m, b):
        return m * t + b

    M = Curve(line, t, y, np.array([0.1, 0.2, 0.2, 0.3]), m=2.0, b=0.9)
    M.m.range(0, 4)
    M.b.range(-5, 5)
    problem = FitProblem(M)

    def loss(x):
        return problem.nllf(x)
    return loss, np.array([1.9, 1.1])


@case("smt", "problems.WingWeight, WaterFlow, Branin, WeldedBeam", "objects")
def smt_problems():
    from smt.problems import Branin, Rosenbrock, WaterFlow
    _w, b, r = WaterFlow(ndim=8, use_FD=False), Branin(ndim=2), Rosenbrock(ndim=3)

    def loss(x):
        return (b._evaluate(x[:4].reshape(2, 2), None).sum() + r._evaluate(x[:3].reshape(1, 3), None).sum() * 1e-2).real
    return loss, np.array([1.0, 2.3, 4.1, 0.8])


@case("metric-learn", "NCA / MLKR loss in the transformation", "library")
def metric_learn_nca():
    from metric_learn import MLKR
    m = MLKR()
    X = np.array([[0.1, 0.5], [1.2, 0.3], [0.7, 1.9], [2.0, 1.1]])
    y = np.array([0.3, 1.0, 0.4, 2.0])
    m.n_iter_ = 0

    def loss(x):
        return m._loss(x, X, y)[0]
    return loss, np.array([0.9, 0.1, -0.2, 0.7])


@case("reservoirpy", "observables.nrmse, rsquare, softmax", "plain")
def reservoirpy_nrmse():
    from reservoirpy.activationsfunc import softmax, softplus
    from reservoirpy.observables import nrmse, rsquare
    y = np.array([[0.1], [0.7], [1.5], [0.9]])

    def loss(x):
        p = x.reshape(4, 1)
        return nrmse(y, p) + rsquare(y, p) + (softmax(x) * np.arange(4.0)).sum() + softplus(x).sum()
    return loss, np.array([0.2, 0.6, 1.4, 1.1])


# --- ODE, PDE, FEM, structures ---------------------------------------------------------------------------------

@case("desolver", "OdeSystem with an RK method: end state in the start", "iterative")
def desolver_ode():
    import desolver as de

    def rhs(t, y, **kwargs):
        return y * (1.0 - y) * 0.7

    def loss(x):
        s = de.OdeSystem(rhs, y0=x, t=(0.0, 1.0), dt=0.1, rtol=1e-10, atol=1e-10)
        s.method = "RK4"
        s.integrate()
        return (s.y[-1] ** 2).sum()
    return loss, np.array([0.2, 0.5])


@case("scikit-fem", "assembled load / stiffness functional with nodal coefficient", "objects")
def skfem_form():
    from skfem import Basis, BilinearForm, ElementLineP1, MeshLine

    @BilinearForm
    def mass(u, v, w):
        return w["k"] * u * v

    basis = Basis(MeshLine(np.linspace(0.0, 1.0, 5)), ElementLineP1())
    u = np.linspace(0.3, 1.1, 5)

    def loss(x):
        M = mass.assemble(basis, k=basis.interpolate(x))
        return u @ (M @ u)
    return loss, np.array([1.0, 1.3, 0.8, 1.1, 0.9])


@case("findiff", "FinDiff derivative of an array", "objects")
def findiff_derivative():
    from findiff import FinDiff
    d2 = FinDiff(0, 0.1, 2)

    def loss(x):
        y = d2(x)
        return (y * y).sum() * 1e-3
    return loss, np.sin(np.arange(9) * 0.5)


@case("py-pde", "ScalarField laplace / integral on a grid (numba operators)", "objects")
def pypde_laplace():
    import pde
    grid = pde.UnitGrid([6], periodic=True)

    def loss(x):
        f = pde.ScalarField(grid, x)
        l = f.laplace("periodic", backend="scipy")
        return (l.data ** 2).sum() + f.integral
    return loss, np.sin(np.arange(6) * 0.9)


@case("PyNiteFEA", "FEModel3D of a truss: displacement in load and stiffness", "objects")
def pynite_frame():
    from Pynite import FEModel3D

    def loss(x):
        m = FEModel3D()
        m.add_node("N1", 0, 0, 0)
        m.add_node("N2", 10, 0, 0)
        m.add_material("S", x[0] * 1e4, 11200.0, 0.3, 2.836e-4)
        m.add_section("sec", 20.0, 100.0, 150.0, 250.0)
        m.add_member("M1", "N1", "N2", "S", "sec")
        m.def_support("N1", True, True, True, True, True, True)
        m.add_node_load("N2", "FY", x[1])
        m.analyze_linear()
        return m.nodes["N2"].DY["Combo 1"] * 1e4
    return loss, np.array([2.9, -5.0])


@case("anastruct", "SystemElements: displacement of a beam in the load", "objects")
def anastruct_beam():
    from anastruct import SystemElements

    def loss(x):
        ss = SystemElements(EA=15000, EI=x[0] * 1e3)
        ss.add_element(location=[[0, 0], [3, 0]])
        ss.add_element(location=[[3, 0], [6, 0]])
        ss.add_support_hinged(node_id=1)
        ss.add_support_roll(node_id=3)
        ss.point_load(node_id=2, Fy=x[1])
        ss.solve()
        return ss.get_node_displacements(node_id=2)["uy"] * 10.0
    return loss, np.array([5.0, -10.0])


@case("burnman", "eos.birch_murnaghan / Vinet / murnaghan functions", "containers")
def burnman_birch():
    from burnman.eos import birch_murnaghan as bm
    from burnman.eos import vinet

    def loss(x):
        p = {"V_0": x[0], "K_0": x[1] * 1e11, "Kprime_0": x[2], "P_0": 0.0, "G_0": 1.3e11, "Gprime_0": 1.8}
        return bm.birch_murnaghan(x[0] / 1.02, p) * 1e-11 + vinet.bulk_modulus(1.03, p) * 1e-11 + \
            bm.shear_modulus_third_order(1.03, p) * 1e-11
    return loss, np.array([1.124, 1.6, 4.1])


@case("burnman", "eos.debye thermal energy, entropy; einstein heat capacity", "plain")
def burnman_debye():
    from burnman.eos import debye, einstein

    def loss(x):
        return debye.thermal_energy(x[0], x[1], 2) * 1e-4 + debye.molar_heat_capacity_v(x[0], x[1], 2) + \
            einstein.molar_heat_capacity_v(x[0], x[1], 2)
    return loss, np.array([812.0, 760.0])


@case("burnman", "minerals: periclase set_state, density and bulk modulus", "objects")
def burnman_mineral():
    import burnman

    def loss(x):
        m = burnman.minerals.SLB_2011.periclase()
        m.set_state(x[0] * 1e9, x[1] * 1e3)
        return m.density * 1e-3 + m.adiabatic_bulk_modulus * 1e-11 + m.gibbs * 1e-5
    return loss, np.array([24.0, 1.9])


@case("pyrolite", "comp.codata.ILR, CLR, ALR log-ratio transforms", "library")
def pyrolite_ilr():
    from pyrolite.comp.codata import ALR, CLR, ILR, inverse_CLR

    def loss(x):
        X = x.reshape(2, 4)
        return (ILR(X) ** 2).sum() + (CLR(X) * ALR(X)[0, 1]).sum() + (inverse_CLR(X) ** 2).sum()
    return loss, np.array([0.2, 0.3, 0.4, 0.1, 0.25, 0.15, 0.35, 0.25])


@case("openmdao", "components: ExecComp group run_model", "objects")
def openmdao_problem():
    import openmdao.api as om
    prob = om.Problem()
    prob.model.add_subsystem("c", om.ExecComp("f = (a - 3.0)**2 + a*b + (b + 4.0)**2 - 3.0"), promotes=["*"])
    prob.setup()

    def loss(x):
        prob.set_val("a", x[0])
        prob.set_val("b", x[1])
        prob.run_model()
        return prob.get_val("f")[0]
    return loss, np.array([1.0, 2.0])


@case("pycse", "sci / regress: nlpredict-free mapping; pycse.utils", "library")
def pycse_regress():
    from pycse import regress
    A = np.column_stack([np.ones(6), np.arange(6.0), np.arange(6.0) ** 2])

    def loss(x):
        p, _ci, se = regress(A, x, rcond=None)
        return (p * p).sum() + se[0]
    return loss, np.array([0.1, 0.9, 2.1, 2.8, 4.4, 5.1])


# --- quantum, physics ------------------------------------------------------------------------------------------

@case("qutip", "expectation of a rotated state: Qobj operators", "objects")
def qutip_expect():
    import qutip as qt

    def loss(x):
        H = x[0] * qt.sigmax() + x[1] * qt.sigmaz()
        U = (-1j * H).expm()
        return qt.expect(qt.sigmaz(), U * qt.basis(2, 0))
    return loss, np.array([0.4, 0.7])


@case("quimb", "gen.operators / calc: expectation, fidelity, entropy", "library")
def quimb_calc():
    import quimb as qu

    def loss(x):
        p = qu.qu([[x[0] ** 0.5], [x[1]], [x[2]], [0.3]], qtype="ket")
        p = p / (abs(np.asarray(p)) ** 2).sum() ** 0.5
        rho = qu.partial_trace(p, (2, 2), 0)
        return float(abs(rho[0, 0]) + abs(rho[0, 1]))
    return loss, np.array([0.5, 0.4, 0.2])


@case("tensorly", "cp_to_tensor, tucker reconstruction, norm in the factors", "containers")
def tensorly_cp():
    import tensorly as tl
    from tensorly.cp_tensor import cp_norm, cp_to_tensor

    def loss(x):
        f = [x[:4].reshape(2, 2), x[4:10].reshape(3, 2), x[10:].reshape(2, 2)]
        w = np.array([1.0, 0.7])
        t = cp_to_tensor((w, f))
        return (t * t * t).sum() + cp_norm((w, f)) + tl.norm(t, 1)
    return loss, 0.3 + 0.2 * np.cos(np.arange(14))


@case("tensorly", "tenalg.khatri_rao, multi_mode_dot, tt_to_tensor", "containers")
def tensorly_tt():
    from tensorly.tenalg import khatri_rao, multi_mode_dot
    from tensorly.tt_tensor import tt_to_tensor
    t0 = np.arange(8.0).reshape(2, 2, 2)

    def loss(x):
        k = khatri_rao([x[:4].reshape(2, 2), x[4:8].reshape(2, 2)])
        m = multi_mode_dot(t0, [x[:4].reshape(2, 2), x[4:8].reshape(2, 2)], modes=[0, 2])
        t = tt_to_tensor([x[:4].reshape(1, 2, 2), x[4:8].reshape(2, 2, 1)])
        return (k * k).sum() + (m * m).sum() * 1e-2 + (t * t).sum()
    return loss, 0.3 + 0.2 * np.cos(np.arange(8))


@case("cirq-core", "unitary of parametrised gates: state amplitude", "objects")
def cirq_simulate():
    import cirq
    q = cirq.LineQubit.range(2)

    def loss(x):
        c = cirq.Circuit(cirq.rx(x[0])(q[0]), cirq.CNOT(q[0], q[1]), cirq.rz(x[1])(q[1]), cirq.ry(x[2])(q[0]))
        u = cirq.unitary(c)
        return float(abs(u[0, 0]) ** 2 + u[1, 0].real)
    return loss, np.array([0.4, 0.7, 1.1]), steps(1e-2)(loss)


@case("thewalrus", "symplectic / quantum: photon means of a Gaussian state", "library")
def thewalrus_mean():
    from thewalrus.quantum import photon_number_mean, photon_number_mean_vector

    def loss(x):
        c = x.reshape(4, 4)
        cov = c @ c.T
        mu = x[:4]
        return photon_number_mean_vector(mu, cov).sum() + photon_number_mean(mu, cov, 0)
    return loss, (np.eye(4) * 1.4 + 0.1 * np.sin(np.arange(16.0)).reshape(4, 4)).ravel()


@case("thewalrus", "symplectic.two_mode_squeezing, beam_splitter, expand, fidelity", "library")
def thewalrus_symplectic():
    from thewalrus.symplectic import beam_splitter, expand, squeezing

    def loss(x):
        S = expand(beam_splitter(x[0], x[1]), [0, 1], 2) @ expand(squeezing(x[2], x[3]), [0], 2)
        return (S * np.arange(16.0).reshape(4, 4)).sum()
    return loss, np.array([0.4, 0.7, 0.3, 0.2])


@case("pyhf", "Model.logpdf (numpy backend) in the parameters", "objects")
def pyhf_logpdf():
    import pyhf
    model = pyhf.simplemodels.uncorrelated_background(signal=[5.0, 10.0], bkg=[50.0, 60.0], bkg_uncertainty=[5.0, 12.0])
    data = [53.0, 65.0] + model.config.auxdata

    def loss(x):
        return model.logpdf(x, data)[0]
    return loss, np.array([0.9, 1.05, 0.97])


@case("pyhf", "interpolators.code4, probability.Poisson", "library")
def pyhf_interp():
    import pyhf
    i = pyhf.interpolators.get(4)([[[[0.9, 0.8], [1.0, 1.0], [1.2, 1.3]]]])

    def loss(x):
        return i(x.reshape(1, 2)).sum()
    return loss, np.array([0.4, -0.6])


@case("vector", "vector.obj 4-vectors: mass, boost, deltaR", "objects")
def vector_obj():
    import vector

    def loss(x):
        a = vector.obj(px=x[0], py=x[1], pz=x[2], E=x[3] + 5.0)
        b = vector.obj(pt=x[4], phi=x[5], eta=x[6], mass=0.4)
        return (a + b).mass + a.deltaR(b) + a.boostZ(0.3).pz
    return loss, np.array([1.0, 0.5, -0.7, 2.0, 2.2, 0.9, 0.3])


@case("vector", "vector.array (structured NumPy subclass): invariant mass", "subclass")
def vector_array():
    import vector

    def loss(x):
        a = vector.array({"px": x[:2], "py": x[2:4], "pz": x[4:6], "E": x[6:] + 5.0})
        return float((a.mass + a.pt * a.eta).sum())
    return loss, np.array([1.0, 0.5, -0.7, 2.0, 0.2, 0.9, 1.3, 2.1])


@case("unyt", "unyt_array arithmetic and conversion", "subclass")
def unyt_energy():
    import unyt

    def loss(x):
        m = unyt.unyt_array(x[:2], "kg")
        v = unyt.unyt_array(x[2:], "km/s")
        e = (0.5 * m * v ** 2).to("kJ")
        return float(e.sum().value) * 1e-3
    return loss, np.array([1.0, 2.5, 0.4, 0.9])


@case("magpylib", "getB of a Cuboid in position and polarization", "objects")
def magpylib_cuboid():
    import magpylib as magpy

    def loss(x):
        c = magpy.magnet.Cuboid(polarization=x[:3], dimension=x[3:6], position=(0.1, 0.0, 0.2))
        B = c.getB([[1.4, 0.3, 0.7], [0.2, 1.5, -0.6]])
        return (B * B).sum() * 1e3
    return loss, np.array([0.1, 0.4, 0.8, 1.0, 0.7, 0.5])


@case("magpylib", "core dipole / sphere / circle field functions", "library")
def magpylib_core():
    from magpylib.core import dipole_Hfield

    def loss(x):
        H = dipole_Hfield(x[:3].reshape(1, 3), x[3:6].reshape(1, 3))
        return (H * H).sum() * 1e3
    return loss, np.array([0.8, 0.3, 0.7, 0.1, 0.4, 0.9])


@case("empymod", "filters / utils: model.dipole response in the resistivities", "library")
def empymod_dipole():
    import empymod

    def loss(x):
        r = empymod.dipole(
            src=[0, 0, 50], rec=[[900, 1500], [0, 0], 100], depth=[0, 200], res=[2e14, x[0], x[1]], freqtime=1.0, verb=0
        )
        return float((abs(r) ** 2).sum() * 1e25)
    return loss, np.array([0.7, 3.1])


@case("pygfunction", "heat_transfer: finite_line_source of boreholes in distances", "objects")
def pygfunction_fls():
    import pygfunction as gt

    def loss(x):
        b1 = gt.boreholes.Borehole(H=x[0] * 100.0, D=4.0, r_b=0.075, x=0.0, y=0.0)
        b2 = gt.boreholes.Borehole(H=150.0, D=4.0, r_b=0.075, x=x[1], y=0.0)
        return gt.heat_transfer.finite_line_source(4.0 * 168 * 3600.0, 1e-6, b1, b2) * 10.0
    return loss, np.array([1.5, 5.3])


@case("impedance", "models.circuits.elements: circuit impedance of parameters", "containers")
def impedance_elements():
    from impedance.models.circuits.elements import CPE, R, p, s
    f = [0.1, 1.0, 10.0, 100.0]
    freq = np.array(f)

    def loss(x):
        z = s([R([x[0]], freq), p([R([x[1]], freq), CPE([x[2], x[3]], freq)])])
        return (abs(z) ** 2).sum()
    return loss, np.array([0.1, 1.2, 0.05, 0.83])


@case("impedance", "CustomCircuit.predict (eval of a circuit string)", "objects")
def impedance_custom():
    from impedance.models.circuits import CustomCircuit
    f = np.array([0.1, 1.0, 10.0, 100.0])

    def loss(x):
        c = CustomCircuit("R0-p(R1,C1)", initial_guess=[x[0], x[1], x[2]])
        z = c.predict(f, use_initial=True)
        return (abs(z) ** 2).sum()
    return loss, np.array([0.1, 1.2, 0.05])


# --- power systems ---------------------------------------------------------------------------------------------

@case("PYPOWER", "makeYbus admittances in the branch data (sparse)", "library")
def pypower_ybus():
    from pypower.api import case6ww, ext2int, makeYbus
    ppc = ext2int(case6ww())
    V = 1.0 + 0.05 * np.cos(np.arange(6)) + 0.1j * np.sin(np.arange(6))
    branch = ppc["branch"]
    mask = np.zeros(branch.shape)
    mask[:, 2] = 1.0
    base = branch * (1.0 - mask)

    def loss(x):
        Y, _Yf, _Yt = makeYbus(ppc["baseMVA"], ppc["bus"], base + mask * x.reshape(11, 1))
        S = V * (Y @ V).conjugate()
        return (abs(S) ** 2).sum()
    return loss, branch[:, 2]


@case("PYPOWER", "polycost / totcost of generator dispatch", "plain")
def pypower_totcost():
    from pypower.api import case6ww
    from pypower.totcost import totcost
    gencost = case6ww()["gencost"]

    def loss(x):
        return totcost(gencost, x * 100.0).sum() * 1e-3
    return loss, np.array([0.5, 0.6, 0.7])


@case("PYPOWER", "newtonpf power flow: voltages in the injections", "iterative")
def pypower_newtonpf():
    from pypower.api import bustypes, case6ww, ext2int, makeYbus, ppoption
    from pypower.newtonpf import newtonpf
    ppc = ext2int(case6ww())
    Ybus, _Yf, _Yt = makeYbus(ppc["baseMVA"], ppc["bus"], ppc["branch"])
    ref, pv, pq = bustypes(ppc["bus"], ppc["gen"])
    V0 = np.array([1.05, 1.05, 1.07, 1.0, 1.0, 1.0]) + 0j
    opt = ppoption(VERBOSE=0, PF_TOL=1e-12)

    def loss(x):
        V, _ok, _it = newtonpf(Ybus, x + 0.1j * x, V0, ref, pv, pq, opt)
        return (abs(V) ** 2).sum() + V[3].imag
    return loss, np.array([0.0, 0.5, 0.6, -0.7, -0.7, -0.7])


@case("pandapower", "pypower.dSbus_dV-like: create.. std: run power flow loss", "subclass")
def pandapower_runpp():
    import pandapower as pp

    def loss(x):
        net = pp.create_empty_network()
        b = [pp.create_bus(net, vn_kv=20.0) for k in range(2)]
        pp.create_ext_grid(net, bus=b[0], vm_pu=1.02)
        pp.create_line_from_parameters(
            net, b[0], b[1], length_km=3.0, r_ohm_per_km=0.6, x_ohm_per_km=0.3, c_nf_per_km=10.0, max_i_ka=1.0
        )
        pp.create_load(net, bus=b[1], p_mw=x[0], q_mvar=x[1])
        pp.runpp(net, numba=False, tolerance_mva=1e-12)
        return float(net.res_bus.vm_pu.iloc[1])
    return loss, np.array([1.2, 0.4])


# --- colour ----------------------------------------------------------------------------------------------------

@case("coloraide", "Color.convert to Oklab, delta_e (lists of floats, classes)", "containers")
def coloraide_delta_e():
    from coloraide import Color

    def loss(x):
        a = Color("srgb", [x[0], x[1], x[2]])
        b = Color("srgb", [0.2, 0.6, 0.3])
        return a.delta_e(b, method="2000") + a.convert("oklab")["a"]
    return loss, np.array([0.7, 0.4, 0.2])


@case("coloraide", "Color.luminance, contrast, interpolation", "containers")
def coloraide_mix():
    from coloraide import Color

    def loss(x):
        a = Color("srgb", [x[0], x[1], x[2]])
        m = a.mix(Color("srgb", [0.2, 0.6, 0.3]), 0.4, space="lab")
        return m.luminance() + a.contrast(Color("srgb", [0.9, 0.9, 0.9]))
    return loss, np.array([0.7, 0.4, 0.2])




# --- materials, biology ----------------------------------------------------------------------------------------

@case("pymatgen", "Lattice.from_parameters volume, reciprocal lattice", "objects")
def pymatgen_lattice():
    from pymatgen.core import Lattice

    def loss(x):
        l = Lattice.from_parameters(x[0], x[1], x[2], x[3], x[4], x[5])
        return l.volume * 1e-1 + (l.reciprocal_lattice.matrix ** 2).sum()
    return loss, np.array([3.0, 4.0, 5.0, 81.0, 77.0, 104.0])


@case("pymatgen", "analysis.eos functions; EwaldSummation-free: Structure distances", "objects")
def pymatgen_structure():
    from pymatgen.core import Lattice, Structure
    lattice = Lattice.cubic(4.2)

    def loss(x):
        s = Structure(lattice, ["Na", "Cl"], [x[:3], x[3:]])
        return s.get_distance(0, 1)
    return loss, np.array([0.1, 0.05, 0.2, 0.45, 0.52, 0.4])


@case("pymatgen", "analysis.elasticity ElasticTensor k_vrh, g_vrh (ndarray subclass)", "subclass")
def pymatgen_elastic():
    from pymatgen.analysis.elasticity import ElasticTensor
    C = np.diag([250.0, 240.0, 230.0, 90.0, 80.0, 85.0])
    C[:3, :3] += 100.0

    def loss(x):
        t = ElasticTensor.from_voigt(C * x[0] + np.diag([1.0, 0.5, 0.3, 0.2, 0.1, 0.4]) * x[1])
        return float(t.k_vrh + t.g_vrh) * 1e-2
    return loss, np.array([1.1, 12.0])


@case("scikit-bio", "diversity.alpha shannon, simpson, heip evenness", "library")
def skbio_shannon():
    from skbio.diversity.alpha import pielou_e, shannon, simpson

    def loss(x):
        return shannon(x) + simpson(x) + pielou_e(x)
    return loss, np.array([3.0, 7.0, 1.5, 4.2])


@case("scikit-bio", "stats.composition clr, ilr, alr, closure", "library")
def skbio_composition():
    from skbio.stats.composition import alr, clr, ilr

    def loss(x):
        m = x.reshape(2, 4)
        return (clr(m) ** 2).sum() + (ilr(m, validate=False) ** 2).sum() + (alr(m) ** 2).sum()
    return loss, np.array([0.2, 0.3, 0.4, 0.1, 0.25, 0.15, 0.35, 0.25])


@case("biopython", "PDB.vectors: Vector, calc_dihedral, rotaxis", "objects")
def biopython_dihedral():
    from Bio.PDB.vectors import Vector, calc_angle, calc_dihedral

    def loss(x):
        a, b, c, d = Vector(x[:3]), Vector(x[3:6]), Vector(x[6:9]), Vector(x[9:])
        return calc_dihedral(a, b, c, d) + calc_angle(a, b, c)
    return loss, np.array([0.9, 0.1, 0.3, 0., 0, 0, 0.2, 1.4, 0.1, 1.0, 1.7, 0.8])


@case("biopython", "SVDSuperimposer rms", "objects")
def biopython_superimpose():
    from Bio.SVDSuperimposer import SVDSuperimposer
    ref = np.array([[0., 0, 0], [1.4, 0.1, 0], [0.3, 1.2, 0.2], [0.1, 0.4, 1.9]])

    def loss(x):
        s = SVDSuperimposer()
        s.set(ref, x.reshape(4, 3))
        s.run()
        return s.get_rms()
    return loss, (ref + np.sin(np.arange(12)).reshape(4, 3) * 0.3).ravel()


@case("persim", "PersLandscapeApprox / persistent_entropy, PersistenceImager", "library")
def persim_entropy():
    from persim.persistent_entropy import persistent_entropy

    def loss(x):
        return persistent_entropy(x.reshape(4, 2))[0]
    return loss, np.array([0.1, 0.9, 0.2, 1.4, 0.3, 0.7, 0.05, 2.0])


@case("radioactivedecay", "Inventory.decay activities in the amount", "objects")
def radioactivedecay_inventory():
    import radioactivedecay as rd

    def loss(x):
        inv = rd.Inventory({"Mo-99": x[0]}, "Bq")
        return inv.decay(x[1], "h").activities("Bq")["Tc-99m"]
    return loss, np.array([2.0, 20.0])


@case("esda", "Moran-like: esda.gamma, inequality.gini / theil", "objects")
def inequality_theil():
    from inequality.gini import Gini
    from inequality.theil import Theil

    def loss(x):
        return Theil(x).T + Gini(x).g
    return loss, np.array([1.0, 2.5, 3.1, 0.7, 4.4])


@case("mgwr", "kernels: local bandwidth weights", "objects")
def mgwr_kernel():
    from spglm.family import Gamma, Poisson
    y = np.array([1.0, 3.0, 2.0])

    def loss(x):
        return Poisson().deviance(y, x) + Gamma().deviance(y, x) + Poisson().loglike(y, x)
    return loss, np.array([1.3, 2.4, 2.2])


@case("spreg", "OLS betas, sigma2 in y", "objects")
def spreg_ols():
    from spreg import OLS
    X = np.array([[0.1], [0.9], [1.7], [2.2], [3.1], [3.3]])

    def loss(x):
        m = OLS(x.reshape(6, 1), X, nonspat_diag=False)
        return m.betas[0, 0] + m.betas[1, 0] * 2.0 + m.sig2
    return loss, np.array([0.4, 1.2, 1.9, 2.0, 3.9, 3.2])


@case("factor_analyzer", "factor_analyzer.utils cov, corr, partial correlations", "library")
def factor_analyzer_corr():
    from factor_analyzer.utils import corr, cov

    def loss(x):
        X = x.reshape(6, 2)
        return corr(X)[0, 1] + cov(X).sum()
    return loss, np.sin(np.arange(12) * 1.9) + 0.1 * np.arange(12)


@case("catsim", "irt.icc, inf, max_info of item parameters", "plain")
def catsim_irt():
    from catsim.irt import icc, inf

    def loss(x):
        return icc(x[0], x[1], x[2], x[3]) + inf(x[0], x[1], x[2], x[3])
    return loss, np.array([0.3, 1.2, 0.1, 0.2])


@case("openskill", "PlackettLuce.rate: ratings of a match", "objects")
def openskill_rate():
    from openskill.models import PlackettLuce
    model = PlackettLuce()

    def loss(x):
        a = model.rating(mu=x[0], sigma=x[1])
        b = model.rating(mu=x[2], sigma=x[3])
        (a2,), (b2,) = model.rate([[a], [b]])
        return a2.mu + 2.0 * b2.mu + a2.sigma
    return loss, np.array([27.0, 7.0, 24.0, 6.0])


@case("opfunu", "cec_based functions: F12014 ... evaluate", "objects")
def opfunu_functions():
    import opfunu
    f = opfunu.name_based.Ackley01(ndim=4)
    g = opfunu.name_based.Griewank(ndim=4) if hasattr(opfunu.name_based, "Griewank") else f

    def loss(x):
        return f.evaluate(x) + g.evaluate(x)
    return loss, np.array([0.3, -0.7, 1.1, 0.4])


@case("deap", "benchmarks ackley, griewank, schwefel, rastrigin", "containers")
def deap_benchmarks():
    from deap import benchmarks as b

    def loss(x):
        return (
            b.ackley(x)[0]
            + b.griewank(x)[0]
            + b.rosenbrock(x)[0] * 1e-2
            + b.shekel(x, [[0.1, 0.2, 0.4, 0.9]], [0.3])[0]
        )

    return loss, np.array([0.3, -0.7, 1.1, 0.4])


@case("pyswarms", "utils.functions.single_obj: ackley, levi, himmelblau on particles", "plain")
def pyswarms_functions():
    from pyswarms.utils.functions import single_obj as fx

    def loss(x):
        p = x.reshape(3, 2)
        return fx.ackley(p).sum() + fx.beale(p).sum() * 1e-2 + fx.himmelblau(p).sum() * 1e-2 + fx.levi(p).sum()
    return loss, np.array([0.3, -0.7, 1.1, 0.4, 0.9, 1.6])


@case("metrolopy", "gummy uncertainty arithmetic", "subclass")
def metrolopy_gummy():
    import metrolopy as uc

    def loss(x):
        a = uc.gummy(x[0], u=x[1])
        b = uc.gummy(x[2], u=0.05)
        c = a * b + a / b
        return float(c.x + c.u)
    return loss, np.array([1.4, 0.1, 2.2])


@case("refet", "calcs: vapour pressure, net radiation, extraterrestrial radiation", "plain")
def refet_calcs():
    from refet import calcs

    def loss(x):
        ea = calcs.sat_vapor_pressure(x[1:2])
        ra = calcs.ra_daily(x[2:3], 182)
        rso = calcs.rso_daily(ra, ea, x[3:], 182, x[2:3])
        return (calcs.rnl_daily(x[:1], x[1:2], ea, 0.8) + rso * 0.1 + calcs.es_slope(x[:1])).sum()
    return loss, np.array([29.0, 14.0, 0.7, 97.0])


@case("fatpack", "goodman, walker, swt equivalent stress; endurance curve", "objects")
def fatpack_stress():
    import fatpack

    def loss(x):
        c = fatpack.TriLinearEnduranceCurve(71.0)
        s = fatpack.find_goodman_equivalent_stress(x[:3] * 100.0, x[3:] * 10.0, 500.0)
        return s.sum() * 1e-2 + c.get_endurance(x[0] * 100.0) * 1e-6
    return loss, np.array([1.1, 1.4, 0.9, 2.0, 1.0, 3.0])


@case("neurodsp", "aperiodic.compute_autocorr, exp_decay_func; sim cycles", "library")
def neurodsp_autocorr():
    from neurodsp.aperiodic.autocorr import compute_autocorr, double_exp_decay_func
    t = np.linspace(0.0, 1.0, 5)

    def loss(x):
        _lags, ac = compute_autocorr(x, max_lag=5)
        return (ac * ac).sum() + double_exp_decay_func(t, 0.3, x[0] + 1.5, x[1], 0.4, 0.1).sum()
    return loss, np.sin(np.arange(14) * 0.8) + 0.02 * np.arange(14)


@case("neurodsp", "timefrequency: morlet wavelet power / filter_signal_fir", "library")
def neurodsp_wavelet():
    from neurodsp.timefrequency.wavelets import compute_wavelet_transform

    def loss(x):
        m = compute_wavelet_transform(x, 50.0, [8.0, 12.0], n_cycles=3)
        return (abs(m) ** 2).sum()
    return loss, np.sin(np.arange(40) * 0.8)


@case("bctpy", "clustering_coef_wu, efficiency of a weighted graph", "library")
def bctpy_clustering():
    import bct
    mask = 1.0 - np.eye(4)

    def loss(x):
        W = x.reshape(4, 4)
        W = (W + W.T) * mask
        return bct.clustering_coef_wu(W).sum() + bct.strengths_und(W).sum() * 0.1 + bct.matching_ind_und(W)[0, 1] * 0.0
    return loss, 0.3 + 0.1 * np.cos(np.arange(16))


@case("bctpy", "assortativity_wei, transitivity_wu, pagerank_centrality", "library")
def bctpy_transitivity():
    import bct
    mask = 1.0 - np.eye(4)

    def loss(x):
        W = x.reshape(4, 4)
        W = (W + W.T) * mask
        return bct.transitivity_wu(W) + bct.pagerank_centrality(W, 0.85)[0] * 3.0
    return loss, 0.3 + 0.1 * np.cos(np.arange(16))


@case("gstools", "covmodel Exponential / Matern variogram in distance and parameters", "objects")
def gstools_variogram():
    import gstools as gs

    def loss(x):
        m = gs.Exponential(dim=2, var=x[0], len_scale=x[1], nugget=x[2])
        n = gs.Matern(dim=2, var=x[0], len_scale=x[1], nu=1.7)
        return m.variogram(x[3:]).sum() + n.covariance(x[3:]).sum()
    return loss, np.array([1.3, 2.1, 0.2, 0.4, 1.1, 3.0])


@case("pylops", "FirstDerivative / Diagonal operators applied to a model", "objects")
def pylops_operators():
    import pylops
    D = pylops.FirstDerivative(8, kind="centered")
    S = pylops.SecondDerivative(8)

    def loss(x):
        y = D @ x
        z = (S * D) @ x
        return (y * y).sum() + (z * z).sum()
    return loss, np.sin(np.arange(8) * 0.9)


@case("pylops", "avo.zoeppritz approximations, akirichards", "plain")
def pylops_avo():
    from pylops.avo.avo import akirichards
    theta = np.array([5.0, 15.0, 25.0])

    def loss(x):
        g = akirichards(theta, x[:4])
        return sum_all(g)

    def sum_all(g):
        return (g[0] * g[0]).sum() + (g[1] * g[2]).sum()
    return loss, np.array([0.5, 0.45, 0.52, 0.48])


@case("numdifftools", "core: Jacobian-free dea3 extrapolation, fornberg weights", "containers")
def numdifftools_dea3():
    import numdifftools as nd
    from numdifftools.fornberg import fd_weights

    def loss(x):
        r, _e = nd.dea3(x[:1], x[1:2], x[2:3])
        w = fd_weights(x, 0.7, 1)
        return r.sum() + (w * w).sum()
    return loss, np.array([0.9, 1.2, 1.31, 2.0])


@case("powerlaw", "Power_Law / Lognormal likelihoods in the data", "objects")
def powerlaw_pdf():
    import powerlaw
    d = powerlaw.Lognormal(xmin=1.0, parameters=[0.4, 1.1])

    def loss(x):
        return d.pdf(x).sum()
    return loss, np.array([1.4, 2.2, 5.1, 9.0])


@case("nitime", "utils: autocov, ar_generator-free crosscov; algorithms periodogram", "library")
def nitime_periodogram():
    from nitime.algorithms.spectral import periodogram
    from nitime.utils import autocov

    def loss(x):
        _f, p = periodogram(x, Fs=10.0)
        return (p * p).sum() + (autocov(x) ** 2).sum()
    return loss, np.sin(np.arange(16) * 0.8) + 0.1


@case("xclim", "indices on xarray DataArrays: heat index, wind chill (units in attributes)", "subclass")
def xclim_indices():
    import xarray as xr
    from xclim.indices import humidex

    def loss(x):
        t = xr.DataArray(x[:3], dims="time", attrs={"units": "degC"})
        d = xr.DataArray(x[3:], dims="time", attrs={"units": "degC"})
        return float(humidex(t, tdps=d).sum())
    return loss, np.array([28.0, 31.0, 33.0, 16.0, 19.0, 21.0])


@case("stochastic", "diffusion.OrnsteinUhlenbeck moments / noise autocovariance", "objects")
def stochastic_autocov():
    from stochastic.noise import FractionalGaussianNoise

    def loss(x):
        n = FractionalGaussianNoise(hurst=x[0], t=1.0)
        return n._autocovariance(1) + n._autocovariance(3)
    return loss, np.array([0.71])


@case("pylife", "strength / stress.equistress mises, tresca", "library")
def pylife_mises():
    from pylife.stress.equistress import mises, signed_mises_trace, tresca

    def loss(x):
        return mises(x[0], x[1], x[2], x[3], x[4], x[5]) + signed_mises_trace(x[0], x[1], x[2], x[3], x[4], x[5]) + \
            tresca(x[0], x[1], x[2], x[3], x[4], x[5])
    return loss, np.array([100.0, 40.0, 20.0, 15.0, 7.0, 30.0])


@case("pylife", "materiallaws.RambergOsgood strain, stress (Newton)", "iterative")
def pylife_ramberg():
    from pylife.materiallaws import RambergOsgood

    def loss(x):
        r = RambergOsgood(x[0] * 1e5, x[1] * 1e3, x[2])
        return r.strain(x[3] * 100.0) * 1e3 + r.tangential_modulus(x[3] * 100.0) * 1e-5
    return loss, np.array([2.1, 1.2, 0.15, 3.6])


@case("gvar", "gvar arithmetic: mean and deviation of a product", "subclass")
def gvar_product():
    import gvar

    def loss(x):
        a = gvar.gvar(x[0], x[1])
        b = gvar.gvar(x[2], 0.1)
        c = a * b + gvar.exp(a)
        return c.mean + c.sdev
    return loss, np.array([0.9, 0.2, 1.4])


@case("causalinference", "core.propensity likelihood; neg_loglike of a logistic", "plain")
def causalinference_loglike():
    from causalinference.core.propensity import neg_loglike
    Xt = np.array([[1.0, 0.3], [1.0, 1.2]])
    Xc = np.array([[1.0, -0.7], [1.0, 0.5]])

    def loss(x):
        return neg_loglike(x, Xc, Xt)
    return loss, np.array([0.2, 0.6])
