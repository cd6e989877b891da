"""The checker's own balls contain what they say they contain: against exact fractions, and against 900 bits of FLINT and mpmath."""

import math
import random
from fractions import Fraction
from operator import add, mul, sub, truediv

import pytest
from flint import arb, ctx, fmpq, fmpz_poly

from campaigns import draws
from dalenius_check.core.arithmetic.balls import NAN, Ball, precision, rounded, workprec
from dalenius_check.core.arithmetic.elementary import exponential, exponentials, log, log_ratio, series
from dalenius_check.core.arithmetic.matrices import Matrix, Polynomial
from dalenius_check.core.arithmetic.vectors import Listed, Vector

BITS = (128, 128, 128, 53, 256, 1024)
OPERATIONS = {"+": add, "-": sub, "*": mul, "/": truediv}


@pytest.fixture(autouse=True)
def reference():
    """FLINT, which is the measure here, at 900 bits and more."""
    before, ctx.prec = ctx.prec, 2400
    yield
    ctx.prec = before


def ends(ball):
    """The least and the largest number of a ball."""
    unit = Fraction(2) ** ball.exponent
    return (ball.middle - ball.radius) * unit, (ball.middle + ball.radius) * unit


def within(value, low, high):
    """Whether this is certain of a ball of FLINT's and two fractions."""
    low, high = (arb(fmpq(end.numerator, end.denominator)) for end in map(Fraction, (low, high)))
    return (low <= value) is True and (value <= high) is True


def draw(rng, places=(0, 0, 0, 1, 40, 400, 3000)):
    """A ball: exact, narrow, wide or around 0, of any size."""
    middle = rng.choice([0, 1, 1 << 127, (1 << 128) - 1, rng.getrandbits(128), rng.getrandbits(rng.randint(1, 128))])
    radius = rng.choice([0, 0, 1, rng.getrandbits(30), rng.getrandbits(rng.randint(1, 30))])
    place = rng.choice(places)
    return rounded(rng.choice([1, -1]) * middle, radius, rng.randint(-place, place) - middle.bit_length())


def some_of(rng, ball):
    """Numbers of a ball: its ends and one between."""
    low, high = ends(ball)
    return low, high, low + (high - low) * Fraction(rng.randint(0, 1000), 1000)


def test_operations_contain_what_exact_fractions_give():
    """A million of them in the whole campaign; narrow where the operands are exact."""
    rng = random.Random(14)
    for turn in range(draws(4_000, 1_000_000)):
        bits = BITS[turn % len(BITS)]
        with workprec(bits):
            x, y = draw(rng), draw(rng)
            name = rng.choice("+-*/")
            result = OPERATIONS[name](x, y)
        low, high = ends(result)
        divides = name != "/" or not ends(y)[0] <= 0 <= ends(y)[1]
        assert result.is_finite() == divides
        for a, b in zip(some_of(rng, x), some_of(rng, y), strict=True) if divides else ():
            assert low <= OPERATIONS[name](a, b) <= high, (x.str(30), name, y.str(30))
        if divides and x.radius == y.radius == 0:
            exact = OPERATIONS[name](ends(x)[0], ends(y)[0])
            scale = max(map(abs, (ends(x)[0], ends(y)[0], exact))) if name in "+-" else abs(exact)
            assert high - low <= scale * Fraction(1, 2 ** (bits - 3))
        assert result.middle.bit_length() <= bits + 1
        assert result.radius.bit_length() <= 31


def test_operations_with_rationals():
    rng = random.Random(15)
    for _ in range(draws(300, 20_000)):
        p = Fraction(rng.randint(-(10**9), 10**9), rng.randint(1, 10**9)) * Fraction(10) ** rng.randint(-300, 300)
        low, high = ends(Ball(p))
        assert low <= p <= high <= low + abs(p) / 2**120
        x = draw(rng)
        for operation in OPERATIONS.values():
            for point in some_of(rng, x):
                for first, second, exact in ((x, p, (point, p)), (p, x, (p, point))):
                    if operation is not truediv or not (
                        second == 0 or ends(Ball(second))[0] <= 0 <= ends(Ball(second))[1]
                    ):
                        low, high = ends(operation(first, second))
                        assert low <= operation(*exact) <= high


def test_comparisons_hold_of_every_number_or_not_at_all():
    rng = random.Random(16)
    for _ in range(draws(2_000, 300_000)):
        x, y = draw(rng, (0, 1, 3)), draw(rng, (0, 1, 3))
        if rng.random() < 0.3:
            y = rng.choice([x, x.upper(), x.lower(), -x])
        (a, b), (c, d) = ends(x), ends(y)
        assert (x <= y) is (b <= c)
        assert (x < y) is (b < c)
        assert (x >= y) is (a >= d)
        assert (x > y) is (a > d)
        for result in (x.max(y), x.union(y)):
            low, high = ends(result)
            assert low <= max(a, c)
            assert max(b, d) <= high
        low, high = ends(x.union(y))
        assert low <= min(a, c)
        assert high - low <= (max(b, d) - min(a, c)) * (1 + Fraction(1, 2**20)) + max(map(abs, (a, b, c, d))) / 2**120
        assert ends(x.lower())[0] == ends(x.lower())[1] <= a
        assert ends(x.upper())[0] == ends(x.upper())[1] >= b


def test_what_is_not_finite_proves_nothing():
    broken = [NAN, Ball("nan"), Ball(1) / 0, Ball(0).log(), (-Ball(1)).log(), Ball(0) * NAN, NAN + 1, 1 - NAN, -NAN]
    broken += [NAN / 2, 2 / NAN, NAN.exp(), NAN.expm1(), NAN.union(Ball(0)), Ball(0).union(NAN), NAN.max(Ball(1))]
    broken += [NAN.mid(), NAN.lower(), NAN.upper(), Ball(Fraction(1, 3)).union(Ball(-1)).log(), Ball(1 << 80).exp()]
    for ball in broken:
        assert not ball.is_finite()
        assert not ball.is_zero()
        for other in (Ball(0), Ball(10**400), -Ball(10**400), 0, Fraction(1, 2), ball):
            for one, two in ((ball, other), (other, ball)):
                assert not any((one <= two, one < two, one >= two, one > two))
        assert ball.str(25) == "nan"


def functions():
    """The functions of balls with those of FLINT that they must agree with."""
    return {"log": arb.log, "exp": arb.exp, "expm1": arb.expm1}


def argument(rng, name):
    """A ball: of ordinary size, tiny, huge, or close to where a function is 0 or 1."""
    if name == "log" and rng.random() < 0.3:
        return Ball(1) + Ball(rng.choice([1, -1]) * rng.getrandbits(60)) / Ball(1 << rng.randint(61, 200))
    ball = draw(rng, (0, 1, 8, 140, 1500) if name == "log" else (0, 3, 9, 140, 1500))
    return -ball if name == "log" and ball.middle < 0 else ball


def draw_function(rng, name):
    ball = argument(rng, name)
    while name != "log" and (abs(ball.middle) + ball.radius).bit_length() + ball.exponent > 14:
        ball = argument(rng, name)
    return ball


def test_functions_contain_what_flint_gives_at_900_bits():
    """Also at the ends of a ball, and few units wide where the argument is exact."""
    rng = random.Random(17)
    for turn in range(draws(1_200, 100_000)):
        name = ("log", "exp", "expm1")[turn % 3]
        x = draw_function(rng, name)
        with workprec(BITS[turn % len(BITS)]):
            result = getattr(x, name)()
            bits = precision()
        if name == "log" and ends(x)[0] <= 0:
            assert not result.is_finite()
            continue
        assert result.is_finite()
        for point in some_of(rng, x):
            value = functions()[name](arb(fmpq(point.numerator, point.denominator)))
            assert within(value, *ends(result)), (name, x.str(40))
        if x.radius == 0:
            low, high = ends(result)
            assert high - low <= max(abs(low), abs(high)) * Fraction(1, 2 ** (bits - 6)), (name, x.str(40))


def test_functions_are_increasing():
    rng = random.Random(18)
    for turn in range(draws(300, 30_000)):
        name = ("log", "exp", "expm1")[turn % 3]
        x, y = sorted((draw_function(rng, name).mid() for _ in range(2)), key=lambda ball: ends(ball)[0])
        if name != "log" or ends(x)[0] > 0:
            assert ends(getattr(x, name)())[0] <= ends(getattr(y, name)())[1]


def test_functions_against_mpmath():
    mpmath = pytest.importorskip("mpmath")
    rng = random.Random(19)
    with mpmath.workprec(900):
        for turn in range(draws(300, 30_000)):
            name = ("log", "exp", "expm1")[turn % 3]
            x = draw_function(rng, name).mid()
            if name != "log" or x.middle > 0:
                value = getattr(mpmath, name)(mpmath.ldexp(x.middle, x.exponent))
                low, high = getattr(x, name)().lower(), getattr(x, name)().upper()
                assert mpmath.ldexp(low.middle, low.exponent) <= value <= mpmath.ldexp(high.middle, high.exponent)


def test_the_parts_of_functions_are_off_by_at_most_what_they_say():
    """Fixed point against FLINT: each remainder by itself, at few bits, where they matter most."""
    rng = random.Random(20)
    for _ in range(draws(400, 40_000)):
        bits, p = rng.randint(24, 200), rng.randint(1, 10**6)
        q = rng.randint((p + 1) // 2, 2 * p)
        value, off = log_ratio(p, q, bits)
        assert within(arb(fmpq(p, q)).log() * 2**bits, value - off, value + off)
        u = rng.getrandbits(bits)
        value, off = series(u, bits)
        assert within(arb(fmpq(u, 2**bits)).exp() * 2**bits, value, value + off)
        mid, exp = rng.getrandbits(100) | 1, rng.randint(-140, -88)
        value, off, place = log(mid, exp, bits)
        assert within(arb(fmpq(mid) * fmpq(2) ** exp).log() * 2**place, value - off, value + off)
        mid *= rng.choice([1, -1])
        value, off, k = exponential(mid, exp, bits)
        scaled = (arb(fmpq(mid) * fmpq(2) ** exp) - k * arb(2).log()).exp() * 2**bits
        assert within(scaled, value - off, value + off)
    value, off, k = exponentials([mid] * 5000, exp, bits)
    assert within(5000 * scaled, value - off, value + off)


def test_exact_values_stay_exact():
    assert Ball(1).log().is_zero()
    assert (Ball(1) / 4 * 4).log().is_zero()
    assert ends(Ball(0).exp()) == (1, 1)
    assert Ball(0).expm1().is_zero()
    assert ends(Ball(10**38) - 10**38 + Fraction(1, 8)) == (Fraction(1, 8), Fraction(1, 8))
    for zero in (Ball(0), Ball(0) * (1 << 500), rounded(0, 0, 9999)):
        assert ends(zero + Fraction(1, 4)) == ends(Fraction(1, 4) + zero) == (Fraction(1, 4), Fraction(1, 4))
        assert ends(zero.exp()) == (1, 1)
        assert zero.expm1().is_zero()
        low, high = ends(zero.union(Ball(Fraction(-1, 2))))
        assert high - low < Fraction(1, 2) + Fraction(1, 10**8)


def test_extreme_exponents_neither_underflow_nor_fill_memory():
    tiny = Ball(Fraction(1, 10**300))
    assert tiny > 0
    assert tiny * tiny > 0
    assert 0 < -(tiny * tiny.log()) < Fraction(1, 10**297)
    assert Ball(1) + tiny * tiny > Fraction(10**30 - 1, 10**30)
    assert Fraction(1, 10**600) < tiny.expm1() * tiny * 2
    quotient = Ball(-3) / tiny  # as in exp(c/mu)
    small = quotient.exp()
    assert not small > 0
    assert small >= 0
    assert small <= Fraction(1, 10**400)
    assert not (-quotient).exp().is_finite()
    assert Ball(-(10**15)).exp() > 0
    assert (Ball(10**15).exp() * Ball(-(10**15)).exp() - 1).max(Ball(0)) < Fraction(1, 10**20)
    wide = Ball(-1000).union(Ball(1)).exp()
    assert wide + Fraction(1, 10**7) >= 0
    assert wide <= 3
    huge = Ball(1 << 62).exp()
    for _ in range(200):
        huge, small = huge * huge, small * small
    assert not huge.is_finite()
    assert small.is_finite()
    assert small.exponent.bit_length() < 80
    both = Ball(10**15).exp() + Ball(-(10**15)).exp()
    assert both.middle.bit_length() < 200
    assert (both - Ball(10**15).exp()) / Ball(10**15).exp() < Fraction(1, 10**30)


def dense(rng, height, width, places):
    return [[draw(rng, places) if rng.random() < 0.9 else Ball(0) for _ in range(width)] for _ in range(height)]


def test_products_of_matrices_contain_what_exact_fractions_give():
    rng = random.Random(21)
    for turn in range(draws(60, 6_000)):
        size, inner, width = rng.randint(1, 4), rng.randint(1, 7), rng.randint(1, 4)
        places = [(0, 3), (0, 300), (0, 3000)][turn % 3]
        left, right = dense(rng, size, inner, places), dense(rng, inner, width, places)
        product = (Matrix(left) * Matrix(right)).entries()
        for i in range(size):
            for j in range(width):
                low, high = ends(product[i * width + j])
                pairs = [(left[i][k], right[k][j]) for k in range(inner)]
                terms = [[a * b for a in ends(x) for b in ends(y)] for x, y in pairs]
                assert low <= sum(map(min, terms)) <= sum(map(max, terms)) <= high
                largest = max(max(map(abs, row)) for row in terms) if turn % 3 == 0 else 0
                if largest and all(x.radius == y.radius == 0 for x, y in pairs):
                    assert high - low <= inner * largest / 2**100
    assert (Matrix([[Ball(0)]]) * Matrix(1, 3)).entries()[2].is_zero()
    assert not any(x.is_finite() for x in (Matrix([[NAN]]) * Matrix([[Ball(0), Ball(1)]])).entries())
    assert [ends(x)[0] for x in ((Matrix(2, 1) + Matrix([[Ball(1)], [Ball(2)]])) * Ball(3)).entries()] == [3, 6]


def vector(rng, size):
    """Balls of like or of very unlike sizes, as a vector, and some of their numbers."""
    places, alike = rng.choice([(0,), (0, 3), (0, 300), (0, 3000)]), rng.random() < 0.4
    balls = [draw(rng, places) if rng.random() < 0.9 else Ball(0) for _ in range(size)]
    if alike:  # then what they are off by adds up
        radius = rng.getrandbits(90)
        balls = [rounded(rng.getrandbits(128) | 1 << 127, radius, -128) for _ in range(size)]
    return balls, Vector.of(balls), [ends(x)[1] if alike else rng.choice(some_of(rng, x)) for x in balls]


def test_vectors_contain_what_exact_fractions_give():
    """At few bits, where roundings matter most; narrow where the entries are exact and alike."""
    rng = random.Random(25)
    for turn in range(draws(90, 30_000)):
        with workprec(bits := (30, 53, 128)[turn % 3]):
            size = rng.randint(1, 5)
            (xs, x, a), (ys, y, b) = vector(rng, size), vector(rng, size)
            height, (factor,) = rng.randint(1, 4), vector(rng, 1)[0]
            matrix = [vector(rng, size)[::2] for _ in range(height)]
            by = rng.choice(some_of(rng, factor))
            places = [rng.randrange(size) for _ in range(3)]
            through = x.through(Matrix([row for row, _ in matrix]))
            found = [
                (x + y, map(add, a, b)),
                (x * y, map(mul, a, b)),
                (x.max(y), map(max, a, b)),
                (x.scaled(factor), [p * by for p in a]),
                (x.at(places), [a[k] for k in places]),
                (through, [sum(map(mul, a, row)) for _, row in matrix]),
                (Listed([x.sum(), Vector.summed(xs), Vector.largest(xs)]), [sum(a), sum(a), max(a)]),
            ]
            for result, exact in found:
                for ball, value in zip(result.entries(), exact, strict=True):
                    low, high = ends(ball)
                    assert low <= value <= high
            if all(ball.radius == 0 for ball in xs + ys):
                low, high = ends((x * y).sum())
                assert high - low <= size * max(map(abs, a)) * max(map(abs, b)) / 2 ** (bits - 3)


def test_sums_of_exponentials_contain_what_flint_gives():
    """In fixed point, and one by one where that does not do; narrow where the exponents are exact."""
    rng = random.Random(26)
    for turn in range(draws(90, 15_000)):
        with workprec(bits := (30, 53, 128)[turn % 3]):
            place = rng.choice([0, 3, 9, 200])
            balls = [draw(rng, (0, place)) for _ in range(rng.randint(1, 6))]
            balls.append(rounded(rng.randint(-9, 9), rng.randint(0, 9), 0))
            balls = [x for x in balls if (abs(x.middle) + x.radius).bit_length() + x.exponent <= 12] or [Ball(1)]
            vector, listed = (kind.of(balls).log_sum_exp() for kind in (Vector, Listed))
        points = [ends(x)[1] if turn % 2 else rng.choice(some_of(rng, x)) for x in balls]
        numbers = [arb(fmpq(p.numerator, p.denominator)) for p in points]
        value = sum(x.exp() for x in numbers).log() if len(numbers) > 1 else numbers[0]
        for ball in (vector, listed):
            assert not ball.is_finite() or within(value, *ends(ball))
        assert vector.is_finite() or any(x.radius for x in balls)
        if all(x.radius == 0 for x in balls):
            low, high = ends(vector)
            assert high - low <= Fraction(1 << 12, 2 ** (bits - 6))


def test_vectors_of_what_is_not_known_or_not_as_long():
    one, unknown = Vector.of([Ball(1), Ball(2)]), Vector.of([Ball(1), NAN])
    for result in (one + unknown, unknown + one, one * unknown, unknown.max(one), one.scaled(NAN)):
        assert not any(x.is_finite() for x in result.entries())
    broken = [
        unknown.sum(),
        unknown.log_sum_exp(),
        Vector.summed([NAN, Ball(1)]),
        *one.through(Matrix([[NAN, Ball(0)]])).entries(),
    ]
    assert not any(x.is_finite() for x in broken)
    for kind in (Vector, Listed):
        short, long = kind.of([Ball(1)]), kind.of([Ball(1), Ball(2)])
        for operation in (add, mul, kind.max):
            with pytest.raises(ValueError, match="entries beside"):
                operation(short, long)
    with pytest.raises(ValueError, match="entries beside"):
        one.through(Matrix([[Ball(1)]]))
    assert [ends(x) for x in Vector.of([Ball(3), Ball(0)]).entries()] == [(3, 3), (0, 0)]


def test_polynomials_are_flints():
    rng = random.Random(22)
    for _ in range(draws(60, 6_000)):
        a, b = ([rng.getrandbits(rng.choice([1, 8, 300])) for _ in range(rng.randint(1, 9))] for _ in range(2))
        a[rng.randrange(len(a))] |= 1
        n, times = rng.randint(1, 12), rng.randint(1, 9)
        cycle = [-1] + [0] * (n - 1) + [1]
        (p, q, c), (r, s, d) = (list(map(kind, (a, b, cycle))) for kind in (Polynomial, fmpz_poly))
        for own, flints in ((p * q % c, r * s % d), (p**times, r**times), (p * p, r * r)):
            assert own.coeffs() == [int(c) for c in flints.coeffs()]
            assert own.degree() == flints.degree()


def test_whole_parts():
    rng = random.Random(23)
    for _ in range(draws(200, 20_000)):
        x = draw(rng, (0, 1, 60)).mid()
        value = ends(x)[0]
        assert x.floor().unique_fmpz() == math.floor(value)
        assert x.ceil().unique_fmpz() == math.ceil(value)
        assert x.fmpq() == value
    assert Ball(Fraction(1, 2)).unique_fmpz() is None
    assert Ball(Fraction(1, 3)).floor().unique_fmpz() is None
    assert (Ball(1 << 127) * Ball(1 << 70000)).unique_fmpz() is None
    with pytest.raises(ValueError, match="not exact"):
        Ball(Fraction(1, 3)).fmpq()


def test_texts():
    assert Ball(Fraction(1, 4)).str(3, radius=False) == "0.250"
    assert Ball(Fraction(1, 3)).str(5, radius=False) == "0.33333"
    assert "+/-" in Ball(Fraction(1, 3)).str(25)
    assert "E-" in Ball(-(10**15)).exp().str(25)
    assert len(Ball(-(10**400)).exp().str(25)) < 80
