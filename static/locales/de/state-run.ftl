# Läufe: was vor sich geht, wie es ausging, und was sich tun lässt.

state-run-begins = { $backend }: beginnt
state-run-runs = { $backend } läuft …
state-run-done = { $backend }: fertig
state-run-stopped = angehalten
state-run-said-stopped = Angehalten.
state-run-without-result = ohne Ergebnis beendet
state-run-said-without-result = Der Lauf endete ohne Ergebnis.
state-run-in-this-tab = { $backend } läuft in diesem Tab
state-run-part-here = { $backend } in diesem Tab
state-run-part-runner = { $backend } auf dem Runner
state-run-machine-here = dieser Tab
state-run-machine-here-how = dieser Tab, { $how }; { $name }
state-run-machine-runner = Runner
state-run-machine-cores = { $cores ->
    [one] Runner, { $cores } Kern
   *[other] Runner, { $cores } Kerne
}
state-run-took = { $backend } lief in { $ms } ms.
state-run-ran-remote = { $backend } lief auf dem Runner.
state-run-compares = die beiden Ergebnisse werden verglichen
state-run-compared = { $cells ->
    [one] { $here } und { $backend }: { $cells } Zelle weicht ab.
   *[other] { $here } und { $backend }: { $cells } Zellen weichen ab.
}
state-run-asked-to-stop = Der Runner wird gebeten, anzuhalten …
state-run-rate = { NUMBER($rate, minimumFractionDigits: 1, maximumFractionDigits: 1) } GB/s
state-run-rate-gpu = { $rate }, { NUMBER($part, maximumFractionDigits: 0) } % der Kopierrate der GPU
state-run-rate-copying = { $rate }, { NUMBER($part, maximumFractionDigits: 0) } % der Kopierrate
state-run-at-cell = { $message } (bei i, j, k = { $cell })

state-run-too-many-points = { $points } Punkte sind mehr, als diese Seite in einem Tab rechnet: höchstens { $most }
state-run-too-many-points-next = ein kleineres Gebiet wählen oder auf einem Runner rechnen
state-run-fell-over-drawing = der Worker dieses Tabs ist abgestürzt, als das Ergebnis gezeichnet werden sollte
state-run-fell-over-drawing-next = der Quelltext ist sicher; ein kleineres Gebiet wählen und noch einmal starten
state-run-fell-over = der Worker dieses Tabs ist abgestürzt: { $why }
state-run-fell-over-next-domain = der Quelltext ist sicher; ein kleineres Gebiet wählen und noch einmal starten
state-run-fell-over-next-text = der Quelltext ist sicher; Gebiet oder Text ändern und noch einmal starten
state-run-not-started = der Worker dieses Tabs ließ sich nicht starten: { $why }
state-run-not-started-next = der Quelltext ist sicher; noch einmal starten, oder die Seite neu laden, sobald ihr Server wieder da ist
state-run-results-lost = Die Ergebnisse sind verloren.
state-run-unexpected = es kam eine Antwort, die zu keiner Frage gehört; das ist ein Fehler der Seite

# Läufe auf dem Runner.
state-runner-none = diese Seite wird ohne Runner ausgeliefert; `isobar serve` startet einen
state-runner-none-said = Diese Seite wird ohne Runner ausgeliefert: `isobar serve` startet einen.
state-runner-asked = der Runner wird gefragt
state-runner-fetches = `{ $field }` wird geholt
state-runner-waits = wartet, bis es an der Reihe ist: { $position } von { $of }
state-runner-works = der Runner rechnet
state-runner-lost = Der Runner antwortet nicht mehr: er wurde beendet oder ist nicht mehr zu erreichen.
state-runner-lost-next = neu starten und die Adresse öffnen, die er ausgibt; alles andere hier läuft weiter
state-runner-garbled = die Antwort des Runners ist dieser Seite unverständlich: { $what }
state-runner-garbled-next = Seite und Runner haben vielleicht verschiedene Versionen: die Seite neu laden
state-runner-limit = { $message } ({ $name }: { $allowed } { $unit } erlaubt, { $asked } verlangt)
state-runner-ended-limit = der Auftrag stieß an eine Grenze des Runners
state-runner-ended-trap = der Lauf hat sich selbst beendet
state-runner-ended-crash = der Auftrag ist abgestürzt; der Runner läuft weiter
state-runner-ended-shutdown = der Runner wurde beendet
state-runner-ended-error = der Auftrag endete mit einem Fehler

# Messen.
state-bench-done = Die Back Ends sind gemessen.
state-bench-none = kein Back End ist gewählt, das sich messen ließe
state-bench-none-next = neben der Schaltfläche ein Back End ankreuzen
state-bench-rounds = Runden der Messung

# Dateien, die die Seite verlassen.
state-export-saved = { $name } ist gespeichert.
state-export-archive-saved = { $name } ist gespeichert: alle Felder von { $letter }, mit Halo.
state-export-refused = Der Browser hat { $name } nicht angenommen.
state-export-no-graph = Ein Text mit Fehlern hat keinen Graphen.
state-export-graph-gone = Der Graph wurde nicht gemacht: { $why }
