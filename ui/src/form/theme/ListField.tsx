// Lists and tuples. Items keep their identity when they move, so what is half typed moves with them. The fixed places of
// a tuple cannot be removed or moved.
import { ActionIcon } from "@mantine/core";
import { type ReactNode, useRef } from "react";
import { flushSync } from "react-dom";
import { Cross, Down, Up } from "../../shell/icons";
import { asSchema, optionName, resolve, type Schema } from "../schema";
import { startValue, tupleOf } from "../value";
import { type FieldProps, useFormShare, usePlace } from "./context";
import { Field } from "./Field";

export function ListField({ schema, path }: FieldProps) {
  const { root, value, set, setAt } = usePlace(path);
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  const keys = useItemKeys(list.length);
  const tuple = tupleOf(schema);
  const rest = tuple.length > 0 ? schema.additionalItems : (schema.items ?? true);
  const count = Math.max(list.length, tuple.length);
  const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  const canAdd = rest !== false && rest !== undefined && count < most;
  const add = () => {
    keys.add();
    const item = `field-${[...path, list.length].join(".")}`;
    addAndFocus(() => set([...list, startValue(asSchema(rest), root)]), item);
  };
  const remove = (index: number) => {
    keys.remove(index);
    set(list.filter((_, place) => place !== index));
  };
  const move = (index: number, by: number) => {
    const target = index + by;
    keys.swap(index, target);
    const next = [...list];
    [next[index], next[target]] = [next[target], next[index]];
    setAt(path, next);
  };
  return (
    <div className="nest" data-testid={`list-${path.join(".")}`}>
      {Array.from({ length: count }, (_, index) => (
        <Item
          key={keys.at(index)}
          schema={tuple[index] ?? asSchema(rest)}
          path={[...path, index]}
          actions={
            index >= tuple.length && (
              <span className="item-actions">
                <ItemButton
                  label={`Move item ${index + 1} up`}
                  disabled={index === tuple.length}
                  onClick={() => move(index, -1)}
                >
                  <Up />
                </ItemButton>
                <ItemButton
                  label={`Move item ${index + 1} down`}
                  disabled={index === count - 1}
                  onClick={() => move(index, 1)}
                >
                  <Down />
                </ItemButton>
                <ItemButton label={`Remove item ${index + 1}`} onClick={() => remove(index)}>
                  <Cross />
                </ItemButton>
              </span>
            )
          }
        />
      ))}
      {canAdd && (
        <button type="button" className="not-set" onClick={add} data-testid={`add-${path.join(".")}`}>
          + add an item
        </button>
      )}
    </div>
  );
}

/** Items with fields of their own need the whole width; single values share their line with the buttons. */
function Item({ schema, path, actions }: { schema: Schema; path: FieldProps["path"]; actions: ReactNode }) {
  const { root } = useFormShare();
  const number = <span className="item-number">{Number(path[path.length - 1]) + 1}</span>;
  const field = <Field schema={schema} path={path} required name="" />;
  if (isSingle(schema, root)) {
    return (
      <div className="item-row">
        {number}
        <div className="item-field">{field}</div>
        {actions}
      </div>
    );
  }
  return (
    <div className="item-block">
      <div className="item-row">
        {number}
        <span className="quiet item-field">{optionName(schema, root)}</span>
        {actions}
      </div>
      {field}
    </div>
  );
}

function isSingle(schema: Schema, root: Schema): boolean {
  const { type, properties, anyOf } = resolve(schema, root);
  return type !== "object" && type !== "array" && !properties && !anyOf;
}

interface ItemButtonProps {
  label: string;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

export function ItemButton({ label, disabled, onClick, children }: ItemButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}

/** After adding something, the next keystroke belongs into it: it is drawn and focused before that can arrive. */
export function addAndFocus(add: () => void, testId: string): void {
  flushSync(add);
  document.querySelector<HTMLElement>(`[data-testid="${CSS.escape(testId)}"]`)?.focus();
}

let lastKey = 0;

/** A key for each item. A list that was changed elsewhere, by JSON for example, gets new ones. */
function useItemKeys(length: number) {
  const keys = useRef<number[]>([]);
  while (keys.current.length < length) keys.current.push(++lastKey);
  if (keys.current.length > length) keys.current.length = length;
  return {
    at: (index: number) => keys.current[index] ?? `place-${index}`,
    add: () => keys.current.push(++lastKey),
    remove: (index: number) => keys.current.splice(index, 1),
    swap: (a: number, b: number) => {
      const { current } = keys;
      [current[a], current[b]] = [current[b] ?? ++lastKey, current[a] ?? ++lastKey];
    },
  };
}
