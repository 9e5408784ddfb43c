# Pictures.

# What stands between thousands.
plots-thousands = ,

plots-picture = picture of a field
plots-everywhere = { $value } everywhere
