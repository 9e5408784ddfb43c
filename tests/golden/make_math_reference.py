"""Writes `math_reference.txt`: exact values of the transcendental functions, to 60 digits before rounding.

A line holds function, precision, argument bits (two for `pow`), the bits of the correctly rounded
result, and what the exact value has beyond that result, in units in the last place. So the error
of any other result is the distance in representable numbers less that remainder.

The points are drawn with a fixed seed over the whole range of each function; `HARD` adds those
where our own functions were found to err most, in searches over some 10^8 points.

Needs Python 3 and mpmath; run it in this folder as `python3 make_math_reference.py`.
"""

import math
import random
import struct

import mpmath as mp

mp.mp.dps = 60

HARD = {
    "exp": [
        "-0x1.625de48cdea0dp+9",
        "-0x1.624b28a9cba9dp+9",
        "-0x1.623b61577cdbep+9",
        "-0x1.62352ee9547d1p+9",
        "-0x1.626a3e148898ap+9",
        "0x1.4a77ede9b7d9ep+9",
        "-0x1.8cb77c1f1bf52p+8",
        "0x1.07060fafc9a58p+9",
        "-0x1.d2e2f6e42e1c7p+8",
        "0x1.49a4bb50421cap+9",
        "0x1.67f88fdf97f94p-2",
        "0x1.95505be01f208p-2",
        "0x1.70ae0095bfbe0p-2",
        "0x1.7fbd885f52550p-2",
        "-0x1.f5853b243ef9cp-1",
        "0x1.761939fb835f0p-2",
        "-0x1.fcf013583a070p-1",
        "-0x1.f78a3a950cc4ep-1",
        "-0x1.ea6bc5c976614p-1",
        "0x1.9021a195a26b8p-2",
    ],
    "log": [
        "0x1.6f7713a12e58ap+0",
        "0x1.64879c24aca28p+0",
        "0x1.62f017eb97421p-1",
        "0x1.62f2315fc210bp+0",
        "0x1.66339d3a05c9cp-1",
        "0x1.66936aa116ba5p+0",
        "0x1.52c72a2128b46p-1",
        "0x1.5bf86877c7f6ap+0",
        "0x1.633ba1239a011p-1",
        "0x0.000000005912ep-1022",
        "0x1.66668da2ec4c9p+0",
        "0x1.64bd328e16801p+0",
        "0x1.69ff72568239fp-1",
        "0x1.64c4696f58125p+0",
        "0x1.673ab3c628c7ep-1",
        "0x1.670f3b4103eb6p+0",
        "0x1.689f89a48eb3cp-1",
        "0x1.68fba13a116b7p+0",
        "0x1.64b0e559a7c29p+0",
        "0x1.5c363753169f7p+0",
    ],
    "log10": [
        "0x1.e94ce98d574edp+370",
        "0x1.c93e323c9113ap-330",
        "0x1.148f8d5235ac2p+897",
        "0x1.6ba30e61026c2p-533",
        "0x1.2404497445e68p+546",
        "0x1.3a81a011708a6p+315",
        "0x1.bfc60a818f018p+0",
        "0x1.45c3cd9a387f1p-1",
        "0x1.c81b26320b7f0p-1",
        "0x1.47224f325cb5dp+0",
        "0x1.c704cde002364p+0",
        "0x1.5fdce52852efdp+0",
    ],
    "pow": [
        ("0x1.3bbbbd7e43a70p-58", "0x1.1b8afb4ecd410p+4"),
        ("0x1.af4886f436d71p-401", "0x1.46f87d96e1181p+1"),
        ("0x1.281452cb21eccp+513", "-0x1.fe0ba912fabb5p+0"),
        ("0x1.67da3938cd6cap+896", "-0x1.241a8e022947ep+0"),
        ("0x1.f3e721bb5b13cp-1002", "0x1.0563bf8781a8bp+0"),
        ("0x1.fe9e32071330dp+53", "-0x1.2f206c45864bcp+4"),
        ("0x1.64d83160ea112p-330", "0x1.8d3465fea960dp+1"),
        ("0x1.941176ec96ffep+945", "-0x1.14dbfc1512437p+0"),
        ("0x1.a682a71de112ep-898", "0x1.23d70886def14p+0"),
        ("0x1.7d9dc9ef174f0p+941", "-0x1.15e47b73dc449p+0"),
        ("0x1.673499403fa5dp-1", "0x1.f3dac18373777p+10"),
        ("0x1.66f342a82705ep-1", "0x1.f2e7e44113dd5p+10"),
        ("0x1.56edc4e481ea8p+0", "0x1.156f1c8651dacp+7"),
        ("0x1.158d98ef11dedp+0", "0x1.f7d0324f189aep+9"),
        ("0x1.989c17903ea5fp-1", "0x1.37da8f4e33480p+8"),
        ("0x1.48a8c49ce9df9p+0", "0x1.9ed6066acab6cp+8"),
        ("0x1.ab59d809a9176p-1", "0x1.8453fc63436d9p+9"),
        ("0x1.8ca97b12dc120p-1", "-0x1.621d5b9844105p+10"),
        ("0x1.828750269ed8ap-1", "0x1.53f1663b54cafp+10"),
        ("0x1.c7c5dfc050780p-1", "-0x1.c9621d8a382cfp+9"),
        ("0x1.460e71ab83206p+6", "-0x1.30e72c13523b6p+3"),
        ("0x1.4bf328eef2d8cp+6", "0x1.bed041bac45c4p+2"),
        ("0x1.6c286200c14ddp+2", "-0x1.2ad9218378380p-1"),
        ("0x1.1f36c34a7f802p+4", "-0x1.9e99cdb24b1ccp+1"),
        ("0x1.ae06468fccf11p+5", "0x1.2191b4a31c71cp+0"),
        ("0x1.298052abca632p+6", "-0x1.bf97697cc5996p+2"),
        ("0x1.39a51704ad2c7p+4", "-0x1.4f52afacaf7eap+2"),
        ("0x1.946517ba95b43p+5", "0x1.8c8961187a21bp+1"),
        ("0x1.65f8eee724b9ap+6", "-0x1.3e3c7f1f6d4d9p+3"),
        ("0x1.8a346a15a09c0p+6", "-0x1.dd771b0ef9e3ap+2"),
    ],
    "erfc": [
        "0x1.19ab07328e004p+1",
        "0x1.2ee13eb3cc092p+4",
    ],
}


class Format:
    def __init__(self, name, code, integer, digits, lowest):
        self.name, self.code, self.integer = name, code, integer
        self.digits, self.lowest = digits, lowest
        self.width = 2 * struct.calcsize(code)

    def bits(self, x):
        return struct.unpack("<" + self.integer, struct.pack("<" + self.code, x))[0]

    def nearest(self, x):
        """x, a double, in this format."""
        return struct.unpack("<" + self.code, struct.pack("<" + self.code, x))[0]

    def hex(self, x):
        return f"{self.bits(x):0{self.width}x}"


F64 = Format("f64", "d", "Q", 53, -1074)
F32 = Format("f32", "f", "I", 24, -149)


def rounded(form, exact):
    """The correctly rounded value and the remainder in units in the last place; None out of range."""
    if exact == 0:
        return 0.0, mp.mpf(0)
    _, exponent = mp.frexp(exact)
    unit_exponent = max(int(exponent) - form.digits, form.lowest)
    unit = mp.ldexp(1, unit_exponent)
    count = int(mp.nint(exact / unit))
    if count.bit_length() + unit_exponent > (1024 if form is F64 else 128):
        return None
    return math.ldexp(count, unit_exponent), exact / unit - count


def gamma(x):
    return mp.gamma(x)


def cbrt(x):
    return mp.cbrt(x) if x >= 0 else -mp.cbrt(-x)


FUNCTIONS = {
    "exp": (mp.exp, [(-745, 710, 2), (-1, 1, 1), "tiny"]),
    "log": (mp.log, ["positive", (0.5, 2, 2), (0, 100, 1)]),
    "log10": (mp.log10, ["positive", (0.5, 2, 2), (0, 100, 1)]),
    "sin": (mp.sin, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny"]),
    "cos": (mp.cos, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny"]),
    "tan": (mp.tan, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny"]),
    "asin": (mp.asin, [(-1, 1, 2), "tiny"]),
    "acos": (mp.acos, [(-1, 1, 2), "tiny"]),
    "atan": (mp.atan, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny"]),
    "sinh": (mp.sinh, [(-3, 3, 2), (-700, 700, 1), "tiny"]),
    "cosh": (mp.cosh, [(-3, 3, 2), (-700, 700, 1), "tiny"]),
    "tanh": (mp.tanh, [(-3, 3, 2), (-20, 20, 1), "tiny"]),
    "asinh": (mp.asinh, [(-3, 3, 2), (-1e6, 1e6, 1), "tiny"]),
    "acosh": (mp.acosh, [(1, 3, 2), (1, 1e6, 1)]),
    "atanh": (mp.atanh, [(-1, 1, 2), "tiny"]),
    "cbrt": (cbrt, [(-10, 10, 2), "positive", "tiny"]),
    "gamma": (gamma, [(0.01, 10, 2), (-10, 0, 1), (10, 170, 1)]),
    "erf": (mp.erf, [(-3, 3, 2), (-6, 6, 1), "tiny"]),
    "erfc": (mp.erfc, [(-3, 3, 2), (-6, 26, 1)]),
}

OURS = ["exp", "log", "log10"]


def draw(form, kind, rng):
    largest = 1023 if form is F64 else 127
    if kind == "positive":
        return math.ldexp(rng.uniform(1, 2), rng.randint(form.lowest, largest))
    if kind == "tiny":
        return rng.choice([-1, 1]) * math.ldexp(rng.uniform(1, 2), rng.randint(-60, -3))
    low, high, _ = kind
    if form is F32 and high > 100:
        low, high = low / 8, high / 8
    return rng.uniform(low, high)


def draw_pow(form, rng):
    kind = rng.randrange(4)
    reach = 745 if form is F64 else 103
    if kind == 0:
        x = rng.uniform(0.7, 1.42)
    elif kind == 1:
        return rng.uniform(0, 100), rng.uniform(-10, 10)
    elif kind == 2:
        return rng.uniform(-100, 100), float(rng.randint(-20, 20))
    else:
        x = draw(form, "positive", rng)
    x = form.nearest(x)
    return x, rng.uniform(-reach, reach) / math.log(x) if x != 1 else 1.0


def main():
    rng = random.Random(20)
    lines = [
        "# Exact values of functions; see make_math_reference.py, which wrote this file.",
        "# function precision argument... rounded remainder",
    ]
    for form in (F64, F32):
        for name, (function, kinds) in FUNCTIONS.items():
            count = (240 if name in OURS else 80) // (1 if form is F64 else 2)
            weighted = [kind for kind in kinds for _ in range(kind[2] if isinstance(kind, tuple) else 1)]
            points = [form.nearest(draw(form, weighted[i % len(weighted)], rng)) for i in range(count)]
            if form is F64:
                points += [float.fromhex(x) for x in HARD.get(name, [])]
            for x in points:
                result = rounded(form, function(mp.mpf(x)))
                if result is not None:
                    lines.append(f"{name} {form.name} {form.hex(x)} {form.hex(result[0])} {float(result[1]):.4f}")
        points = [draw_pow(form, rng) for _ in range(300 if form is F64 else 150)]
        if form is F64:
            points += [tuple(float.fromhex(x) for x in pair) for pair in HARD.get("pow", [])]
        for x, y in points:
            x, y = form.nearest(x), form.nearest(y)
            result = rounded(form, mp.power(mp.mpf(x), mp.mpf(y)))
            if result is not None:
                lines.append(
                    f"pow {form.name} {form.hex(x)} {form.hex(y)} {form.hex(result[0])} {float(result[1]):.4f}"
                )
    with open("math_reference.txt", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


main()
