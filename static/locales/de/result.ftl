bench = Messung
bench-about = Die Back Ends des Runners werden reihum aufgerufen, und es wird so viel Speicher kopiert, wie ein Aufruf bewegen muss: Hier stehen die Mediane, und welchen Teil des Kopierens sie erreichen.
bench-what = Was gemessen wird
bench-button-about = Ruft jedes dieser Back Ends so oft auf, mit dem Runner dieses Rechners
bench-button = Auf diesem Runner messen
bench-rounds = Runden
bench-of = { $threads ->
    [one] { $stencil } auf { $i } × { $j } × { $k } Punkten, fp{ $precision }, 1 Thread, { $mode }, { $rounds } Runden; ein Aufruf bewegt mindestens { $bytes }.
   *[other] { $stencil } auf { $i } × { $j } × { $k } Punkten, fp{ $precision }, { $threads } Threads, { $mode }, { $rounds } Runden; ein Aufruf bewegt mindestens { $bytes }.
}
bench-stale = Der Text wurde seither geändert.
bench-backend = Back End
bench-interval-about = wo der Median mit 95 % Sicherheit liegt
bench-noisy = unruhig
bench-noisy-about = Das Intervall ist breiter als ein Zehntel des Medians: nochmals messen, mit mehr Runden oder während die Maschine ruht
bench-copy-about = die Zeit des Kopierens als Teil der eines Aufrufs
bench-copy = Kopie
bench-first-about = der Aufruf vor den Runden, in Millisekunden
bench-first = erster
bench-copying = Kopieren
bench-agree = Alle Back Ends haben dieselben Bits geschrieben.
bench-differ-fast = Die Back Ends haben nicht dieselben Bits geschrieben, wie `fast` es erlaubt.
bench-differ = Die Back Ends haben nicht dieselben Bits geschrieben.
clock-step-each = Schritt { $step }, je { $time }
clock-step = Schritt { $step }
clock-about = Jeder Schritt beginnt mit dem, was der vorige geschrieben hat.
clock-steps = Zeitschritte
clock-pause = Pause
clock-play-about = Abspielen: Schritt für Schritt
clock-play = Abspielen
clock-one = Ein Schritt
clock-one-about = Ein Schritt (.)
clock-restart = Zurück zum ersten Schritt
clock-restart-about = Zurück zum ersten Schritt (,)
compare = Vergleich
compare-field = Feld
compare-cells = Zellen
compare-differ = verschieden
compare-largest = am größten
compare-where = wo, A und B
compare-same = 0 Zellen verschieden: Alle { $cells } Werte haben dieselben Bits.
compare-differs = { $differing ->
    [one] { $differing } von { $cells } Zellen verschieden, höchstens um { $largest }.
   *[other] { $differing } von { $cells } Zellen verschieden, höchstens um { $largest }.
}
compare-nan = NaN auf einer Seite
compare-place = ({ $i },{ $j },{ $k }): { $a } und { $b }
decisions = Entscheidungen des Compilers: { $count }
decisions-which = Welche Entscheidungen
decisions-none = Davon gibt es keine.
decisions-lines = { $count ->
    [one] Zeile
   *[other] Zeilen
}
decisions-more = und { $count } weitere
result-run = Lauf
result-long = Das dauert in diesem Tab lange. Es geht weiter; Anhalten beendet es.
result-instead-numpy = Stattdessen mit numpy rechnen
result-instead-runner = Stattdessen auf dem Runner rechnen
timings = Zeiten
timings-none = Hier stehen die Zeiten eines Laufs, Schritt für Schritt.
timings-graph = Womit der Aufruf seine Zeit verbrachte, Schritt für Schritt des Graphen
timings-step = Schritt
timings-writes = schreibt
timings-lines = Zeilen
timings-time = Zeit
timings-part = Anteil
timings-calls = Womit das Programm seine Zeit verbrachte, Aufruf für Aufruf
timings-statement = Anweisung
timings-times = mal
timings-traffic = Verkehr
timings-line = Zeile
timings-open = Das Stencil öffnen
timings-left-out = { $count ->
    [one] Eine Anweisung, die weniger brauchte, fehlt hier.
   *[other] { $count } Anweisungen, die weniger brauchten, fehlen hier.
}
timings-compilation = Übersetzung in diesem Tab: { $time }
timings-tuned = Ein Schedule wurde verwendet, den `isobar tune` aufgehoben hat ({ $what }): { $time } statt { $own }, als gemessen wurde.
timings-memory = Speicher: { $fields } für Felder
timings-temporaries = , { $bytes } für Temporäre
timings-threads = , { $bytes } für Threads
