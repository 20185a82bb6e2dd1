// Asks before something that cannot be taken back. The safe answer is the first one.
import { Modal } from "@mantine/core";

interface ConfirmProps {
  opened: boolean;
  title: string;
  text: string;
  action: string;
  onClose: () => void;
  onYes: () => void;
}

export function Confirm({ opened, title, text, action, onClose, onYes }: ConfirmProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="sm" transitionProps={{ duration: 0 }}>
      <p className="quiet">{text}</p>
      <div className="dialogue-actions">
        <button type="button" className="btn" onClick={onClose}>
          Back
        </button>
        <button type="button" className="btn btn-strong" data-testid="confirm" data-autofocus onClick={onYes}>
          {action}
        </button>
      </div>
    </Modal>
  );
}
