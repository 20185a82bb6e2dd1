// Files that the tools of a session saved: named, with every version, pictures shown, everything to download.
import { errorText } from "../api/client";
import { artifactUrl, useArtifacts } from "../api/queries";
import type { Artifact, Session } from "../api/types";

const SHOWN_UP_TO = 10_000_000;

export function Artifacts({ session, quiet }: { session: Session; quiet?: boolean }) {
  const artifacts = useArtifacts(session.id, session.last_seq);
  const items = artifacts.data?.items ?? [];
  if (quiet && items.length === 0) return null;
  if (artifacts.isError && !artifacts.data) return <div className="note note-bad">{errorText(artifacts.error)}</div>;
  if (!artifacts.data) return <p className="quiet">Looking…</p>;
  if (items.length === 0) {
    return (
      <p className="quiet">
        No artifacts yet. What a tool saves with <code>tool_context.save_artifact</code> appears here.
      </p>
    );
  }
  return (
    <ul className="artifacts" data-testid="artifacts" aria-label="Artifacts">
      {items.map((artifact) => (
        <Item key={artifact.name} id={session.id} artifact={artifact} />
      ))}
    </ul>
  );
}

function Item({ id, artifact }: { id: string; artifact: Artifact }) {
  const { name, versions, mime_type: type, size } = artifact;
  const newest = versions[versions.length - 1];
  const shown = /^image\/(png|jpeg|gif|webp)$/.test(type ?? "") && (size ?? 0) < SHOWN_UP_TO;
  return (
    <li data-testid="artifact">
      <div className="artifact-line">
        <a href={artifactUrl(id, name)} download={name}>
          {name}
        </a>
        <span className="quiet">{[type, sizeWords(size)].filter(Boolean).join(" · ")}</span>
        <span className="spring" />
        {versions.length > 1 &&
          versions.map((version) => (
            <a key={version} className="quiet" href={artifactUrl(id, name, version)} download={name}>
              v{version}
            </a>
          ))}
      </div>
      {shown && <img src={artifactUrl(id, name, newest)} alt={name} loading="lazy" />}
    </li>
  );
}

export function sizeWords(size?: number | null): string {
  if (size === undefined || size === null) return "";
  if (size < 1000) return `${size} bytes`;
  if (size < 1_000_000) return `${(size / 1000).toFixed(size < 10_000 ? 1 : 0)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}
