// Warnings about the access to a session: quiet, above the stream, with all that is known one click away.
import { useSecurity } from "../api/queries";
import type { Session } from "../api/types";
import { Warning } from "../shell/icons";
import { fullTime } from "../time/format";

export function Security({ session }: { session: Session }) {
  const security = useSecurity(session).data;
  const warnings = security?.security_warnings ?? [];
  const failed = security?.failed_access_attempts ?? 0;
  const flagged = session.flagged || security?.is_security_flagged === true;
  if (!flagged && warnings.length === 0) return null;
  return (
    <details className="security" data-testid="security">
      <summary>
        <Warning /> {securityWords(flagged, warnings.length, failed)}
      </summary>
      <ul>
        {warnings.map((warning) => (
          <li key={`${warning.at} ${warning.code}`}>
            <time dateTime={warning.at}>{fullTime(warning.at)}</time> {warning.message} <code>{warning.code}</code>
          </li>
        ))}
        {security?.last_access_at && <li className="quiet">Last access {fullTime(security.last_access_at)}</li>}
        {security && warnings.length === 0 && <li className="quiet">The server gives no reason.</li>}
      </ul>
    </details>
  );
}

export function securityWords(flagged: boolean, warnings: number, failed: number): string {
  const said = flagged ? ["This session is flagged"] : [];
  if (warnings > 0) said.push(warnings === 1 ? "1 warning" : `${warnings} warnings`);
  if (failed > 0) said.push(failed === 1 ? "1 failed access" : `${failed} failed accesses`);
  return said.join(" · ");
}
