// A choice between several schemas. The chosen one stays chosen while its fields are still empty.
import { NativeSelect } from "@mantine/core";
import { useState } from "react";
import { fittingOption } from "../check";
import { asSchema, optionNames, resolve, type Schema } from "../schema";
import { startValue } from "../value";
import { type FieldProps, usePlace } from "./context";
import { Field } from "./Field";

const NONE = -1;

export function UnionField(props: FieldProps) {
  const { schema, path, required } = props;
  const { root, id, value, set } = usePlace(path);
  const options = (schema.anyOf ?? []).map(asSchema);
  const names = optionNames(options, root);
  const [chosen, setChosen] = useState(() => {
    if (value !== undefined) return fittingOption(options, value, root);
    return required && isPlain(options[0], root) ? 0 : NONE;
  });
  const option = options[chosen];
  const choose = (index: number) => {
    setChosen(index);
    const next = options[index];
    set(next ? startValue(next, root, 0, true) : undefined);
  };
  const last = path[path.length - 1];
  const name = typeof last === "number" ? `item ${last + 1}` : String(last ?? "value");
  return (
    <div className={`union${isPlain(option, root) ? " union-plain" : ""}`}>
      <NativeSelect
        id={option ? `${id}__option` : id}
        aria-label={`kind of ${name}`}
        data-testid={`kind-${path.join(".")}`}
        className={option ? undefined : "unset"}
        value={chosen}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {(!required || !option) && <option value={NONE}>{required ? "choose…" : "not set"}</option>}
        {names.map((optionName, index) => (
          <option key={optionName} value={index}>
            {optionName}
          </option>
        ))}
      </NativeSelect>
      {option && <Field key={chosen} schema={{ ...option, title: undefined }} path={path} required bare name="" />}
    </div>
  );
}

function isPlain(option: Schema | undefined, root: Schema): boolean {
  if (!option) return false;
  const schema = resolve(option, root);
  return schema.type !== "object" && schema.type !== "array" && !schema.properties && !schema.anyOf;
}
