//! The meaning of the operators on single values.
//!
//! The interpreter and constant folding both come here, so a folded expression
//! has the bits that it would have had at run time.
