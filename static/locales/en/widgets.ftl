listing-find = Find in this text
listing-find-next = Next hit
listing-find-previous = Previous hit
listing-find-close = Close the search
listing-not-found = not found
listing-and-more = { $at } of { $of } and more
listing-prelude = { $count ->
    [one] prelude, 1 line
   *[other] prelude, { $count } lines
}
listing-prelude-about = What the generated code needs of its surroundings
listing-empty = empty line
listing-removed = removed
listing-added = added
prose-table = Table
figure-steps = Steps of the drawing
figure-next = Next step
split-about = Drag it, or use the arrow keys; a double click puts it back
