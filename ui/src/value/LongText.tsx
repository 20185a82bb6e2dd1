// Text to the letter, cut after 500 characters until the reader asks for more.
import { useRemembered } from "./expanded";

const AT_ONCE = 500;

export function LongText({ text, place, mono }: { text: string; place: string; mono?: boolean }) {
  const [whole, setWhole] = useRemembered(`${place}.whole`, false);
  const cut = text.length > AT_ONCE && !whole;
  return (
    <div className={`long-text${mono ? " mono" : ""}`}>
      {cut ? `${text.slice(0, AT_ONCE)}…` : text}
      {text.length > AT_ONCE && (
        <button type="button" className="link" onClick={() => setWhole(!whole)}>
          {cut ? `Show more (${text.length.toLocaleString("en")} characters)` : "Show less"}
        </button>
      )}
    </div>
  );
}
