listing-find = In diesem Text suchen
listing-find-next = Nächster Treffer
listing-find-previous = Voriger Treffer
listing-find-close = Suche schließen
listing-not-found = nicht gefunden
listing-and-more = { $at } von { $of } und mehr
listing-prelude = { $count ->
    [one] Vorspann, 1 Zeile
   *[other] Vorspann, { $count } Zeilen
}
listing-prelude-about = Was der erzeugte Code von seiner Umgebung braucht
listing-empty = leere Zeile
listing-removed = entfernt
listing-added = hinzugekommen
prose-table = Tabelle
figure-steps = Schritte der Zeichnung
figure-next = Nächster Schritt
split-about = Ziehen, oder die Pfeiltasten verwenden; ein Doppelklick setzt es zurück
