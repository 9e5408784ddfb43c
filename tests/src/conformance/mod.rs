//! Conformance pages: manual, specification and test of the language in one.
//!
//! A page is Markdown. A fenced block `stencil` is compiled through all levels, and says in comments what must
//! come of it:
//!
//! ```text
//! out = a[1, 0]                  # error[E26]       at this line; `warning[W02]`, `hint[W11]` likewise; and nothing else
//! # @domain 3 1 2                                   the run: as in every other stencil
//! # @scalar x = 0.5   # @external n = 3   # @input a random(low=0, high=1, seed=1)
//! # external f = {"function": "g"}                  any external, as JSON
//! # dtype real = "float32"                          an entry of the dtypes
//! # input a = 10*i + k                              a formula in i, j, k (from the first point of the
//!                                                   domain) and c, d (the data index)
//! # input a(i) = 9 | 1 2 3 | 9                      values along an axis; two bars are the edges of the
//!                                                   domain, one is its upper edge
//! # input a(i,j) = 1 2 / 3 4                        rows along the first, entries along the second
//! # expect out = 10*i + 1                           the same for results: bit for bit, or with `~` for `=`
//!                                                   to within one unit in the last place
//! # array a = 4 3 2   # origin a = 1 1 0            the call: an array's shape, the origin
//! # refused[C03]                                    the call is refused, with this code and no other
//! # stops                                           the run ends with a trap
//! ```
//!
//! Fields without a value start as zeros, temporaries as NaN. The info string takes `precision=32`, `minmax=c`,
//! `mod=c`, and `halo=1` for arrays with a halo where none is needed. A fenced block `module NAME.py` is a file beside the stencils
//! that follow below the same heading.

mod block;
mod run;
mod values;

pub use block::{Block, all_blocks, blocks};
pub use run::{call, check, compile, config};
