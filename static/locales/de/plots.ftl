# Bilder.

# Was zwischen Tausendern steht.
plots-thousands = .

plots-picture = Bild eines Feldes
plots-everywhere = überall { $value }
