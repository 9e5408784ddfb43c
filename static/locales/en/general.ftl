# Which way the language is written: ltr or rtl.
direction = ltr
# What stands before the decimals of a number.
number-decimal = .

stale = from before your edit
line-number = line { $line }
go-to-line = Go to line { $line }
choose-one = choose one
dismiss = Dismiss
close = Close
back = Back
reset = Reset
part-of = { $at } of { $of }
whole-field = whole field
this-plane = this { $axis }
n-fields = { $count ->
    [one] 1 field
   *[other] { $count } fields
}
n-scalars = { $count ->
    [one] 1 scalar
   *[other] { $count } scalars
}
n-externals = { $count ->
    [one] 1 external
   *[other] { $count } externals
}
n-constructor = { $count ->
    [one] 1 value of the constructor
   *[other] { $count } values of the constructor
}
n-inputs = { $count ->
    [one] 1 input
   *[other] { $count } inputs
}
no-runner-start = This page is served without a runner: start one with `isobar serve` and open the address that it prints
source = Source
fields = Fields
loading-compiler = Loading the compiler …
lessons = Lessons
gallery = Gallery
manual = Manual
result = Result
share = Share
inputs = Inputs
problems = Problems
output = Output
domain = Domain
part-missing = This part of the page could not be loaded.
part-again = Try again
