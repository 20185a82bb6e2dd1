// Bytes, where a schema declares them: picked from a file, or typed. JSON has no bytes, so the schema says how they
// travel: as base64, as a data URL, or as text.
import { Textarea } from "@mantine/core";
import { useRef, useState } from "react";
import type { Schema } from "../schema";
import { type FieldProps, usePlace } from "./context";

type Travel = "base64" | "data URL" | "text";

export function isBytes(schema: Schema): boolean {
  return travelOf(schema) !== undefined;
}

function travelOf(schema: Schema): Travel | undefined {
  if (schema.type !== "string" || schema.enum) return undefined;
  if (schema.contentEncoding === "base64" || schema.format === "byte" || schema.format === "base64") return "base64";
  if (schema.format === "data-url") return "data URL";
  return schema.format === "binary" ? "text" : undefined;
}

export function BytesInput({ schema, path, required }: FieldProps) {
  const { id, value, set, errors, at } = usePlace(path);
  const picker = useRef<HTMLInputElement>(null);
  const [note, setNote] = useState("");
  const travel = travelOf(schema) ?? "text";
  const take = async (file: File | undefined) => {
    if (!file) return;
    const { text, as } = await readAs(file, travel);
    set(text);
    setNote(`${file.name}, ${file.size.toLocaleString("en")} bytes, as ${as}`);
  };
  const last = path[path.length - 1];
  return (
    <div className="bytes">
      <Textarea
        id={id}
        className="mono-input"
        autosize
        minRows={1}
        maxRows={4}
        data-testid={`field-${path.join(".")}`}
        aria-label={typeof last === "number" ? `item ${last + 1}` : undefined}
        aria-required={required || undefined}
        error={errors.has(at)}
        placeholder={`${required ? "" : "not set · "}${travel}`}
        value={typeof value === "string" ? value : ""}
        onChange={(event) => {
          setNote("");
          set(event.currentTarget.value || undefined);
        }}
      />
      <button type="button" className="btn" onClick={() => picker.current?.click()}>
        From a file…
      </button>
      <input
        ref={picker}
        type="file"
        hidden
        tabIndex={-1}
        aria-label="File"
        data-testid={`file-${path.join(".")}`}
        onChange={(event) => void take(event.currentTarget.files?.[0])}
      />
      {note && <div className="field-help">{note}</div>}
    </div>
  );
}

/** Text only if the file is text; bytes that are none go as base64, and the note says so. */
async function readAs(file: File, travel: Travel): Promise<{ text: string; as: Travel }> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (travel === "text") {
    try {
      return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), as: "text" };
    } catch {
      return { text: base64(bytes), as: "base64" };
    }
  }
  if (travel === "base64") return { text: base64(bytes), as: travel };
  return { text: `data:${file.type || "application/octet-stream"};base64,${base64(bytes)}`, as: travel };
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let from = 0; from < bytes.length; from += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
  }
  return btoa(binary);
}
