// What AG-UI's own schemas say against an event, read as strictly as they can be: they let fields pass that they do
// not know, for the sake of later versions, but no such field may come from here.
import { EventSchemas } from "@ag-ui/core/schemas";

/** What is wrong with an event as it was on the wire; nothing if nothing is. */
export function problems(event) {
  const read = EventSchemas.safeParse(event);
  if (!read.success) return [`${event?.type}: ${read.error.message}`];
  return unknown(EventSchemas, event, event.type);
}

/** The fields of a value that its schema does not name, with their paths. */
function unknown(schema, value, path) {
  const { type, ...def } = schema._def;
  switch (type) {
    case "optional":
    case "nullable":
    case "default":
    case "readonly":
      return value == null ? [] : unknown(def.innerType, value, path);
    case "lazy":
      return unknown(def.getter(), value, path);
    case "pipe":
      return unknown(def.in, value, path);
    case "array":
      return value.flatMap((item, index) => unknown(def.element, item, `${path}[${index}]`));
    case "union": {
      // Of the shapes that take it, the one that knows most of it.
      const found = def.options.filter((option) => option.safeParse(value).success);
      const all = found.map((option) => unknown(option, value, path));
      return all.sort((one, other) => one.length - other.length)[0] ?? [];
    }
    case "object":
      return Object.entries(value).flatMap(([key, field]) => {
        const known = schema.shape[key];
        return known ? unknown(known, field, `${path}.${key}`) : [`${path}.${key} is in no schema`];
      });
    default:
      return [];
  }
}
