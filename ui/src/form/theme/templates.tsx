// How fields, objects and lists are laid out. Objects are set in by a line; short fields share a row.
import { ActionIcon, TextInput } from "@mantine/core";
import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  type TemplatesType,
} from "@rjsf/utils";
import { Cross } from "../../shell/icons";
import { asSchema, type Schema } from "../schema";
import { startValue } from "../value";
import { useFormShare } from "./context";
import { Frame } from "./Frame";

function FieldTemplate(props: FieldTemplateProps) {
  const { id, fieldPathId, label, schema, required = false, formData, children } = props;
  const path = fieldPathId.path;
  const own = schema as Schema;
  const last = path[path.length - 1];
  if (path.length === 0) return <>{children}</>;
  // Inside a choice, the option's field has no name of its own: the choice already carries frame and errors.
  if (label === "" && typeof last !== "number") return <>{children}</>;
  const set = (value: unknown) => props.onChange(value as never, path);
  const name = typeof last === "number" ? "" : String(last ?? "");
  const group = own.type === "object" || own.type === "array" || own.anyOf !== undefined;
  const framed = (
    <Frame
      id={id}
      name={ADDITIONAL_PROPERTY_FLAG in schema ? "" : name}
      path={path}
      schema={own}
      required={required}
      value={formData}
      onChange={set}
      wide={isWide(own, path.length)}
      group={group}
    >
      {children}
    </Frame>
  );
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) return framed;
  const { onKeyRenameBlur, onRemoveProperty } = props;
  return (
    <div className="extra-row">
      <TextInput defaultValue={name} aria-label="key" className="mono-input" onBlur={onKeyRenameBlur} />
      {framed}
      <RemoveButton label={`Remove ${name}`} onClick={onRemoveProperty} />
    </div>
  );
}

function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { properties, schema, uiSchema, formData, fieldPathId } = props;
  const { root, setAt } = useFormShare();
  const addKey = () => {
    const fields = (formData ?? {}) as Record<string, unknown>;
    const start = startValue(asSchema(schema.additionalProperties), root) ?? "";
    setAt(fieldPathId.path, { ...fields, [freeKey(fields)]: start });
  };
  const nested = fieldPathId.path.length > 0;
  return (
    <div className={nested ? "nest" : "fields"}>
      <div className="field-grid">{properties.map((property) => property.content)}</div>
      {canExpand(schema, uiSchema, formData) && typeof schema.additionalProperties === "object" && (
        <button type="button" className="not-set" onClick={addKey}>
          + add a key
        </button>
      )}
    </div>
  );
}

function ArrayFieldTemplate(props: ArrayFieldTemplateProps) {
  const { items, canAdd, fieldPathId, formData } = props;
  const { root, setAt } = useFormShare();
  const add = () => {
    const list = (formData ?? []) as unknown[];
    const { items: itemSchema, additionalItems } = props.schema as Schema;
    const next = Array.isArray(itemSchema) ? (itemSchema[list.length] ?? additionalItems) : itemSchema;
    setAt(fieldPathId.path, [...list, startValue(asSchema(next), root)]);
  };
  return (
    <div className="nest">
      {items}
      {canAdd && (
        <button type="button" className="not-set" onClick={add} data-testid={`add-${fieldPathId.path.join(".")}`}>
          + add an item
        </button>
      )}
    </div>
  );
}

function ArrayFieldItemTemplate(props: ArrayFieldItemTemplateProps) {
  const { index, children, buttonsProps } = props;
  return (
    <div className="item-row">
      <span className="item-number">{index + 1}</span>
      <div className="item-field">{children}</div>
      {buttonsProps.hasRemove && (
        <RemoveButton label={`Remove item ${index + 1}`} onClick={buttonsProps.onRemoveItem} />
      )}
    </div>
  );
}

function RemoveButton({ label, onClick }: { label: string; onClick: (event?: never) => void }) {
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} title={label} onClick={() => onClick()}>
      <Cross />
    </ActionIcon>
  );
}

function freeKey(fields: Record<string, unknown>): string {
  for (let number = 1; ; number++) {
    const key = number === 1 ? "key" : `key${number}`;
    if (!(key in fields)) return key;
  }
}

function isWide(schema: Schema, depth: number): boolean {
  if (schema.enum || "const" in schema) return false;
  switch (schema.type) {
    case "integer":
    case "number":
    case "boolean":
      return false;
    case "string":
      return schema.format === undefined && depth < 2;
    default:
      return true;
  }
}

function Nothing() {
  return null;
}

export const templates: Partial<TemplatesType> = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  DescriptionFieldTemplate: Nothing,
  FieldErrorTemplate: Nothing,
  FieldHelpTemplate: Nothing,
  ErrorListTemplate: Nothing,
  TitleFieldTemplate: Nothing,
  MultiSchemaFieldTemplate: Nothing,
};
