//! What each room may import.
