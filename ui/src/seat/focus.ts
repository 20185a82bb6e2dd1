// Puts the focus where work goes on in the seat: the first field of the form, else the first tool, else the text. The
// form may still be loading, so it is looked for a little while, unless the person has gone somewhere else meanwhile.

const TRIES = 20;
const WAIT_MS = 40;

export function focusFirst(tries = TRIES): void {
  const seat = document.querySelector<HTMLElement>(".seat");
  const field = seat?.querySelector<HTMLElement>(
    ".seat-form input, .seat-form textarea, .seat-form select, .final-field textarea",
  );
  const loading = seat?.querySelector(".form-loading");
  if (field && !loading) {
    field.focus({ preventScroll: true });
    return;
  }
  if (loading && tries > 0) {
    const before = document.activeElement;
    setTimeout(() => {
      if (document.activeElement === before) focusFirst(tries - 1);
    }, WAIT_MS);
    return;
  }
  seat?.querySelector<HTMLElement>(".tool-chips button")?.focus({ preventScroll: true });
}

/** After an attempt to send: to the first field that is not right, in sight. */
export function focusFirstError(): void {
  const error = document.querySelector<HTMLElement>(".seat .field-error");
  const field = error
    ?.closest(".field, .final-field, .seat-form")
    ?.querySelector<HTMLElement>("input, textarea, select");
  error?.scrollIntoView({ block: "nearest" });
  field?.focus();
}
