//! The one definition of the functions whose bits std leaves to the platform.
