// Text to the letter, cut until the reader asks for more. More comes in steps, so that ten megabytes do not stop the
// page; the copy has all of it.
import { Copy } from "../shell/Command";
import { useRemembered } from "./expanded";

const AT_ONCE = 500;
const STEP = 50_000;

export function LongText({ text, place, mono }: { text: string; place: string; mono?: boolean }) {
  const [shown, setShown] = useRemembered(`${place}.shown`, AT_ONCE);
  const cut = text.length > shown;
  return (
    <div className={`long-text${mono ? " mono" : ""}`}>
      {cut ? `${text.slice(0, shown)}…` : text}
      {text.length > AT_ONCE && (
        <span className="long-text-actions">
          {cut && (
            <button type="button" className="link" onClick={() => setShown(shown + STEP)}>
              Show more ({text.length.toLocaleString("en")} characters)
            </button>
          )}
          {shown > AT_ONCE && (
            <button type="button" className="link" onClick={() => setShown(AT_ONCE)}>
              Show less
            </button>
          )}
          {text.length > STEP && <Copy text={text} label="Copy all" />}
        </span>
      )}
    </div>
  );
}
