// What the agent is told: on top, folded or not as the person left it. Runs of empty lines are closed up here; the
// Request tab has the text to the letter.
import { useStored } from "../shell/storage";

export function Instruction({ text }: { text: string }) {
  const [open, setOpen] = useStored("hotseat.instruction.open", true);
  if (text.trim() === "") return null;
  return (
    <section className="instruction" data-testid="instruction">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span>Instruction</span>
        <span className="spring" />
        <span>{open ? "collapse ▴" : "expand ▾"}</span>
      </button>
      {open && <div className="instruction-text">{text.trim().replaceAll(/\n{3,}/g, "\n\n")}</div>}
    </section>
  );
}
