"""The curves of Figure 3 of the paper on local mutual-information privacy, as ten digits have them: 21 inputs in Gaussian noise."""

from __future__ import annotations

FIGURE_3 = {  # variance: delta of local information privacy at epsilon (P1-10)
    "1.3599906965": {
        "0": 0.321948003239,
        "0.1": 0.291800020303,
        "0.2": 0.263097945651,
        "0.5": 0.18695080591,
        "1": 0.0956314216518,
        "1.5": 0.0433819514356,
        "2": 0.0175780237248,
        "3": 0.00210820109661,
    },
    "14.4872661913": {
        "0": 0.10418828725,
        "0.1": 0.0659415492159,
        "0.2": 0.0386031681111,
        "0.3": 0.0208390774596,
        "0.5": 0.00473430755809,
        "1": 2.77142165466e-5,
        "2": 3.86730143653e-12,
    },
}
