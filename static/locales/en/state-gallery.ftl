# The examples that come with the page.

state-gallery-basics = Basics
state-gallery-dynamics = Dynamics
state-gallery-physics = Column physics
state-gallery-solvers = Solvers
state-gallery-edges = Grid edges
state-gallery-wrong = Wrong on purpose
state-gallery-edited = { $title }, edited
state-gallery-your-text = Your text

state-gallery-copy-scale = Copy and scale
state-gallery-about-copy-scale = The smallest stencil there is
state-gallery-smoother = Smoother
state-gallery-about-smoother = Noise goes, step by step, and waves stay
state-gallery-game-of-life = Game of life
state-gallery-about-game-of-life = Cells live and die by their neighbours
state-gallery-geostrophic-adjustment = Waves and rotation
state-gallery-about-geostrophic-adjustment = Waves run away, and the rest turns about itself
state-gallery-tracer-advection = Tracer in a vortex
state-gallery-about-tracer-advection = A turning wind winds a cloud up, and loses nothing of it
state-gallery-shallow-water = Shallow water
state-gallery-about-shallow-water = A heap of water falls, and its waves meet again
state-gallery-burgers = Burgers' equation
state-gallery-about-burgers = A wave steepens into a front
state-gallery-horizontal-diffusion = Horizontal diffusion
state-gallery-about-horizontal-diffusion = Fourth order, with a flux limiter
state-gallery-divergence-damping = Divergence damping
state-gallery-about-divergence-damping = Gravity waves are damped, rotation is left alone
state-gallery-ppm-transport = PPM transport
state-gallery-about-ppm-transport = Piecewise parabolas, and the edges of a tile
state-gallery-column-physics = Column physics
state-gallery-about-column-physics = Condensation by Newton's method, rain and evaporation
state-gallery-sedimentation = Saturation and fall
state-gallery-about-sedimentation = Cloud water becomes rain, which falls without losing mass
state-gallery-cloud-base = Cloud base
state-gallery-about-cloud-base = A search in each column, and a read at the level found
state-gallery-vertical-advection = Vertical advection
state-gallery-about-vertical-advection = Implicit, by the Thomas algorithm
state-gallery-thomas = Tridiagonal solver
state-gallery-about-thomas = Heat spreads in the ground, with any time step
state-gallery-acoustic-column = Acoustic column
state-gallery-about-acoustic-column = Sound waves of a column, solved implicitly
state-gallery-ppm-remap = Vertical remap
state-gallery-about-ppm-remap = From moved levels back to fixed ones, by parabolas
state-gallery-cube-corner = Corner of a cube
state-gallery-about-cube-corner = Edges and corners where tiles of the sphere meet
state-gallery-nan-hunt = A NaN hunt
state-gallery-about-nan-hunt = Somewhere a root of a negative number: find where it began

# How many points an example is opened with.
state-gallery-small = small
state-gallery-own = medium
state-gallery-large = large
state-gallery-about-small = half as many points along i and j
state-gallery-about-own = as many points as the text says
state-gallery-about-large = twice as many points along i and j
