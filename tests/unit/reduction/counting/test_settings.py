"""The others with their probabilities, against a list of all datasets."""

import itertools
from fractions import Fraction

import dalenius as dl
from campaigns import each
from dalenius.reduction import settings_of_others

TABLE = dl.Table([0, 2, 2, 1, 0, 1, 2, 0])
QUERIES = [dl.Count(), dl.Parity(), dl.Sum([1, 2, 5]), dl.Threshold(2), dl.ModularSum(3), dl.Identity(), TABLE]


@each("query", *QUERIES)
@each("law", dl.Uniform(), dl.Iid([0.3, 0.7]), dl.Iid([0, 1]))
def test_the_law_of_the_input_given_a_letter(query, law):
    records = dl.Records(3, alphabet=2)
    index = query.index_of_dataset(records)
    letters = [Fraction(weight, sum(law.weights(2))) for weight in law.weights(2)]
    for kind in settings_of_others(query, records, law):
        for letter in range(2):
            brute = dict.fromkeys(range(query.values(records).size), Fraction(0))
            for place, dataset in enumerate(itertools.product(range(2), repeat=3)):
                if dataset[kind.record] == letter:
                    others = [letters[x] for record, x in enumerate(dataset) if record != kind.record]
                    brute[int(index[place])] += others[0] * others[1]
            found = dict.fromkeys(brute, Fraction(0))
            for inputs, weight in zip(kind.inputs.tolist(), kind.weights, strict=True):
                found[inputs[letter]] += Fraction(weight, sum(kind.weights))
            assert found == brute
        assert min(kind.weights) > 0


def test_every_record_is_of_a_kind():
    records = dl.Records(alphabets=[2, 3, 2])
    for query in (dl.Count(), dl.Identity()):
        assert sum(kind.times for kind in settings_of_others(query, records, dl.Uniform())) == 3
    assert settings_of_others(dl.Count(), dl.Records(1, alphabet=2), dl.Uniform())[0].inputs.tolist() == [[0, 1]]
