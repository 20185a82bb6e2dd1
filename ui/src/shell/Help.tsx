// Keys and words, one press away.
import { Modal } from "@mantine/core";
import { SHORTCUTS } from "./shortcuts";

export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" size="sm" transitionProps={{ duration: 0 }}>
      <Shortcuts />
      <p className="quiet">
        Hotseat puts you in the model's seat: you see each request as the model would and answer with text or tool
        calls. The API behind this page is described at <a href="/docs">/docs</a>.
      </p>
    </Modal>
  );
}

export function Shortcuts() {
  return (
    <dl className="keys">
      {SHORTCUTS.map(([keys, words]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}
