"""The core: what every verdict rests on, from the numbers to the rules of one record's channel (docs/guarantee.md)."""
