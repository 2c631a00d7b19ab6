"""How days are written where Django's own way is not the product's. Next: `config/formats/en/formats.py`."""
