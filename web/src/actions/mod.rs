//! The actions that cross areas of the state: what the user asks for, and what follows from it elsewhere.
//!
//! An area of `state` changes itself alone and knows the areas below it. All that concerns several stands here.

mod start;
mod opening;
mod workspaces;
mod files;
mod editor;
mod teller;
mod given;
mod paste;
mod card;
mod problems;
mod remedy;
mod passes;
mod run;
mod clock;
mod benchmark;
mod exports;
mod sharing;
mod learn;
mod keyboard;
