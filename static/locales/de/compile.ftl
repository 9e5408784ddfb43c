# Warum ein Lauf in diesem Tab oder eine Frage nach seinen Feldern kein Ergebnis hat; und wie eine GPU gerechnet hat.

compile-has-errors = der Text hat Fehler
compile-stopped = der Lauf wurde angehalten
compile-too-large = die Felder dieses Laufs brauchen { $needed } MiB, und ein Tab hat { $most } MiB dafür; ein kleineres Gebiet wählen
compile-scalar-is-no-number = ein Skalar ist keine Zahl
compile-scalar-unusable = ein Skalar ist nicht brauchbar
compile-not-callable = so lässt sich das Stencil nicht aufrufen
compile-generator = der Generator `{ $text }` von `{ $field }` ist nicht zu verstehen: { $said }
compile-trap = Zeile { $line }: { $said }
compile-trap-in-step = Zeile { $line }: { $said }, in Schritt { $step }
compile-index-leaves = ein hier berechneter Index verlässt sein Feld, oder ein `while` endet nicht
compile-no-webgpu = dieser Browser hat kein WebGPU; seine eigenen Seiten sagen, wie es sich einschalten lässt, und heutige Chrome, Edge, Firefox und Safari haben es auf den meisten Rechnern
compile-no-gpu = dieser Browser hat WebGPU, findet dafür aber keine GPU auf diesem Rechner
compile-gpu-lacks = dem WebGPU dieses Browsers fehlt `{ $name }`
compile-gpu-refused = die GPU hat abgelehnt: { $said }
compile-gpu-refused-name = die GPU hat `{ $name }` abgelehnt: { $said }
compile-gpu-lost = die GPU ging verloren: { $said }
compile-too-many-arrays = das Stencil hat { $arrays } Arten von Arrays, und diese GPU erlaubt einem Kernel { $most } Puffer
compile-no-immediates = dieses Stencil braucht für jede Ebene einen Start, an dem dieser Browser Kernel nicht unterscheiden kann; ihm fehlen Immediates
compile-gpu-fast = schnell: jedes f64 ist ein f32, Bits sind nicht zugesagt
compile-gpu-exact = genau: f64 als Paare von Wörtern, die Bits von debug
compile-gpu-nameless = eine GPU ohne Namen
compile-not-shown = `{ $field }` lässt sich nicht zeigen: { $said }
compile-in-one-only = `{ $field }` ist nur in einem der beiden Ergebnisse; beide noch einmal ausführen
compile-nothing-to-compare = noch gibt es keine zwei Ergebnisse zum Vergleichen
compile-part-missing = ein Teil des Compilers ließ sich nicht laden; er wird wieder angefordert, wenn er gebraucht wird
