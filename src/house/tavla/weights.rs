//! The weights of the estimate for positions with contact.
//!
//! Fitted by temporal-difference learning over 400,000 games that the estimate played against itself without a cube,
//! each to the end or to the race (`race.rs` gives its chances). One row an input; the columns are for the chance to win,
//! to win a gammon, to lose one.

/// The number of inputs of each side.
pub(super) const INPUTS_A_SIDE: usize = 28;

/// The weights of the inputs: of the side that has just played, of the side on roll, of the constant.
pub(super) const WEIGHTS: [[f64; 3]; 2 * INPUTS_A_SIDE + 1] = [
    // The side that has just played.
    [-1.590, -2.513, 1.300],  // pips to go, over 100
    [4.005, 1.874, -3.210],   // checkers off, over 15
    [-0.707, -0.189, 1.008],  // checkers on the bar, over 2
    [-0.080, 0.120, 0.233],   // checkers in the other's home, over 2
    [0.164, 0.135, -0.279],   // chance that the other's next roll hits a blot
    [-1.289, -0.607, 2.170],  // pips lost on average by that hit, over 25
    [-0.461, -0.384, 0.669],  // chance of a hit times the other's home points, over 6
    [-0.763, 0.106, 0.600],   // on the bar: the square of the other's home points, over 6
    [-0.798, -0.497, 1.023],  // how little the rearmost checker can move
    [0.287, -0.179, -0.655],  // that times the checkers in the other's home or on the bar, over 2
    [0.052, 0.075, 0.011],    // the 2 point made
    [-0.003, -0.144, 0.051],  // the 3 point made
    [0.063, -0.092, -0.012],  // the 4 point made
    [0.055, -0.013, -0.017],  // the 5 point made
    [0.086, 0.011, -0.019],   // the 6 point made
    [-0.169, -0.185, 0.186],  // the 7 point made
    [-0.016, -0.138, -0.003], // the 8 point made
    [-0.304, 0.179, 0.266],   // the square of the home points made, over 6
    [0.036, 0.001, -0.172],   // an anchor on 18 to 21
    [-0.122, -0.014, -0.012], // an anchor on 22 to 24
    [-0.122, -0.238, 0.169],  // checkers more than three on a point, over 3
    [-0.161, -0.440, 0.091],  // checkers on 1 and 2, over 3
    [-0.106, -0.036, 0.121],  // blots in the home, over 2
    [-0.488, 0.364, 1.389],   // pips to bring all checkers home, over 60
    [0.427, 0.471, -0.437],   // the longest row of points made up to 12, squared, over 36
    [0.030, 0.109, 0.050],    // points held from 7 to 11, over 3
    [-0.669, -0.604, 0.359],  // the other on the bar: home points made, over 6
    [0.294, 0.080, 0.084],    // blots of the other in the home times home points made, over 12
    // The side on roll.
    [1.259, 1.202, -2.117],   // pips to go, over 100
    [-4.097, -3.377, 2.091],  // checkers off, over 15
    [0.676, 0.939, -0.182],   // checkers on the bar, over 2
    [0.078, 0.233, 0.122],    // checkers in the other's home, over 2
    [0.037, -0.212, -0.008],  // chance that the other's next roll hits a blot
    [0.045, 0.700, 0.121],    // pips lost on average by that hit, over 25
    [-0.077, 0.447, -0.044],  // chance of a hit times the other's home points, over 6
    [0.893, 0.791, -0.277],   // on the bar: the square of the other's home points, over 6
    [0.992, 1.196, -0.575],   // how little the rearmost checker can move
    [-0.263, -0.580, -0.141], // that times the checkers in the other's home or on the bar, over 2
    [-0.047, 0.010, 0.083],   // the 2 point made
    [0.004, 0.050, -0.127],   // the 3 point made
    [-0.055, -0.012, -0.077], // the 4 point made
    [-0.048, -0.019, -0.001], // the 5 point made
    [-0.052, -0.003, -0.018], // the 6 point made
    [0.150, 0.174, -0.166],   // the 7 point made
    [0.023, 0.010, -0.127],   // the 8 point made
    [0.246, 0.213, 0.192],    // the square of the home points made, over 6
    [0.040, -0.113, -0.023],  // an anchor on 18 to 21
    [0.133, 0.010, -0.009],   // an anchor on 22 to 24
    [0.115, 0.152, -0.228],   // checkers more than three on a point, over 3
    [0.152, 0.090, -0.438],   // checkers on 1 and 2, over 3
    [0.101, 0.134, -0.020],   // blots in the home, over 2
    [0.715, 1.371, 0.011],    // pips to bring all checkers home, over 60
    [-0.361, -0.379, 0.388],  // the longest row of points made up to 12, squared, over 36
    [-0.032, 0.006, 0.077],   // points held from 7 to 11, over 3
    [0.485, -0.020, -0.482],  // the other on the bar: home points made, over 6
    [-0.104, 0.264, 0.054],   // blots of the other in the home times home points made, over 12
    [0.022, -2.795, -2.826],  // always 1
];
