# Stufen, Passes, und was der Compiler getan hat.

state-stage-about-program = die Aufrufe mehrerer Stencils in ihrer Reihenfolge, die eine Klasse oder ein Dokument hat
state-stage-about-definition = was dasteht: Namen aufgelöst, Funktionen eingesetzt
state-stage-about-gtir = was es bedeutet: mit Typen, noch ohne Reihenfolge
state-stage-about-oir = wann welche Anweisung läuft
state-stage-about-npir = Operationen auf ganzen Arrays, Bedingungen als Masken
state-stage-about-tree = Schleifen und Gültigkeitsbereiche ausgeschrieben
state-stage-about-schedule = Reihenfolge, Zusammenlegung und Ablageort gewählt
state-stage-about-sdfg = Zustände, Maps, Tasklets und was zwischen ihnen fließt
state-stage-about-loops = Schleifen und Anweisungen über Elemente, wie alle Codegeneratoren sie lesen
state-stage-about-kernels = was die Blöcke und Threads einer GPU tun und was der Host startet
state-stage-about-python = die Schleifen in einfachem, lauffähigem Python
state-stage-about-numpy = Operationen auf ganzen Arrays in NumPy, lauffähig
state-stage-about-c = erzeugtes C mit OpenMP
state-stage-about-cuda = erzeugtes CUDA C++
state-stage-about-wgsl = erzeugtes WGSL, wie WebGPU und wgpu es annehmen

state-passes-not-started = Das Programm, das die Passes beobachtet, ließ sich nicht starten: { $why }. Eine neue Auswahl versucht es noch einmal.
state-passes-fell-over = Der Compiler ist abgestürzt, während seine Passes beobachtet wurden: { $why }. Der Quelltext ist sicher.
state-passes-none-here = Auf dieser Stufe arbeitet kein Pass. Passes haben: { $stages }.

state-side-changes = was sich geändert hat
state-side-whole = alle Zeilen
state-side-before = davor
state-side-after = danach
state-side-stayed = { $n ->
    [one] { $n } Zeile unverändert
   *[other] { $n } Zeilen unverändert
}

state-remarks-applied = Angewandt
state-remarks-missed = Nicht angewandt
state-remarks-removed = Entfernt
state-remarks-gone = ist nach diesem Pass nicht mehr da
state-remarks-none-here = Zu dieser Zeile gibt es nichts zu sagen.

state-problems-fix-old = Der Text hat sich seither geändert; die Korrektur kommt mit der nächsten Antwort des Compilers wieder.
state-problems-which = Problem { $at } von { $of }: { $message }
state-problems-none = Es gibt keine Probleme.

# Was die Hilfe eines Problems in den Worten der Seite sagt.
state-remedy-external = unten bei den Eingaben einen Wert angeben, oder an den Anfang des Textes eine Zeile `# @external { $name } = ...` schreiben
state-remedy-input = unten bei den Eingaben Werte angeben, oder an den Anfang des Textes eine Zeile für `{ $name }` schreiben
state-remedy-file = die Datei hinzufügen, die den Namen definiert, den Wert an Ort und Stelle schreiben (`{ $name } = 1.0`), oder ihn `from __externals__` importieren und bei den Eingaben angeben
state-remedy-stencil = oben in der Liste eines wählen oder in eines hineinklicken
