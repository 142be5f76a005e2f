//! The built-in bots. Pure: an answer is a function of what is asked, so that games of built-in bots can be played again.

pub mod tavla;
