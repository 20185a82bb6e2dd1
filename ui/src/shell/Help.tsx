// Keys and words, one press away.
import { Modal } from "@mantine/core";
import { modKey } from "./keys";

const KEYS: [string, string][] = [
  ["1 · 2", "call a tool · send final response"],
  ["/", "search tools, or sessions"],
  [`${modKey}Enter`, "send what is in the seat"],
  ["j · k", "next · previous entry"],
  ["g s · g a · g e", "sessions · agents · eval sets"],
  ["Esc", "back out of a field or a dialogue"],
  ["?", "this help"],
];

export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" size="sm" transitionProps={{ duration: 0 }}>
      <dl className="keys">
        {KEYS.map(([keys, words]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet">
        Hotseat puts you in the model's seat: you see each request as the model would and answer with text or tool
        calls. The API behind this page is described at <a href="/docs">/docs</a>.
      </p>
    </Modal>
  );
}
