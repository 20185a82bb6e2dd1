// Waits for the end of a click. Leaving a field by a click would show its error at once and move the button under the
// pointer, so that the click hits nothing.

let pressed = false;
const waiting: (() => void)[] = [];

if (typeof window !== "undefined") {
  window.addEventListener("pointerdown", () => (pressed = true), true);
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, true);
}

export function afterPointer(action: () => void): void {
  if (pressed) waiting.push(action);
  else action();
}

function release(): void {
  pressed = false;
  // The click event follows the release; it must still find its target.
  setTimeout(() => {
    for (const action of waiting.splice(0)) action();
  }, 0);
}
