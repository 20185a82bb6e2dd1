import { Copy } from "../shell/Command";

/** Characters of JSON shown at once; the copy has all of it. */
const SHOWN = 200_000;

/** JSON as it is, with its length and a way to copy it. */
export function RawJson({ text, className }: { text: string; className: string }) {
  return (
    <div className={className}>
      <div className="raw-head">
        <span className="quiet">{text.length.toLocaleString("en")} characters</span>
        <span className="spring" />
        <Copy text={text} label="Copy JSON" />
      </div>
      <pre className="mono">{text.slice(0, SHOWN)}</pre>
      {text.length > SHOWN && <p className="quiet">Cut here. The copy has all of it.</p>}
    </div>
  );
}
