/** What is said above a list: the one thing that a person should know about the state of things, and what helps. */

import type { Answer, DaemonStatus, Reason } from '../../../protocol/protocol';
import type { ConnectionState } from '../connection/connection';
import type { Failure } from '../connection/failures';

export interface Banner {
  /** Names the state, for styles and tests. */
  kind:
    | 'offline'
    | 'connecting'
    | 'incompatible'
    | 'unserved'
    | 'indexing'
    | 'keyword-only'
    | 'mismatch'
    | 'relaxed'
    | 'partial'
    | 'nothing'
    | 'failed';
  text: string;
  /** A command to copy; empty when there is none. */
  command: string;
  /** Share done, 0 to 1; null when unknown. */
  progress: number | null;
  /** Something that can be done at once. */
  action: 'start' | 'serve' | 'retry' | 'create' | null;
}

export interface Facts {
  connection: ConnectionState;
  status: DaemonStatus | null;
  /** Id of this window's vault. */
  vault: string;
  query: string;
  answer: Answer | null;
  busy: boolean;
  failure: Failure | null;
  /** The folder of the vault, for commands. */
  root: string;
}

export function bannerFor(facts: Facts): Banner | null {
  const { connection, failure, busy } = facts;
  switch (connection.kind) {
    case 'idle':
    case 'connecting':
      return banner('connecting', 'Connecting to the search service…');
    case 'offline':
      return banner('offline', `The search service is not there: ${connection.why}.`, {
        command: commandIn(connection.hint) || upCommand(facts.root),
        action: 'start',
      });
    case 'unserved':
      return banner('unserved', 'The search service does not know this vault yet.', {
        command: upCommand(facts.root),
        action: 'serve',
      });
    case 'incompatible':
      return banner('incompatible', `This plugin and the search service do not fit together: ${connection.why}.`, {
        command: commandIn(connection.hint) || 'pipx upgrade vaultrag',
        action: 'retry',
      });
    case 'closed':
      return null;
    case 'ready':
      break;
  }
  if (failure && !busy) {
    return banner('failed', `The search failed: ${failure.message}.`, { command: commandIn(failure.hint), action: 'retry' });
  }
  return answerBanner(facts) ?? indexingBanner(facts);
}

function answerBanner(facts: Facts): Banner | null {
  const { answer, busy, query } = facts;
  if (!answer || !query.trim()) return null;
  const reason = worst(answer);
  if (answer.hits.length === 0 && !busy) {
    const why = reason && reason.state !== 'full' ? ` ${sentence(reason.why)}` : '';
    const text = answer.nearest.length ? 'Nothing matches closely. These are the nearest notes.' : 'Nothing in your notes fits.';
    return banner('nothing', text + why, { action: 'create' });
  }
  if (!reason) return null;
  const command = commandIn(reason.hint);
  switch (answer.state) {
    case 'keyword_only':
      return banner('keyword-only', `Words only: ${reason.why}.`, { command });
    case 'model_mismatch':
      return banner('mismatch', `Words only for now: ${reason.why}.`, { command });
    case 'indexing':
      return indexingBanner(facts) ?? banner('indexing', `${sentence(reason.why)}`, { command });
    case 'relaxed':
      return banner('relaxed', sentence(reason.why));
    case 'partial':
      return busy ? null : banner('partial', sentence(reason.why), { command });
    default:
      return null;
  }
}

/** Progress of reading and embedding, when there is any. */
export function indexingBanner(facts: Pick<Facts, 'status' | 'vault'>): Banner | null {
  const vault = facts.status?.vaults.find((one) => one.id === facts.vault) ?? facts.status?.vaults[0];
  if (!vault) return null;
  if (vault.state === 'indexing' || vault.state === 'starting') {
    const total = vault.notes + vault.to_read;
    const text = vault.to_read ? `Reading notes: ${vault.to_read} to go.` : 'Reading notes…';
    return banner('indexing', text, { progress: vault.to_read && total ? vault.notes / total : null });
  }
  if (vault.state === 'embedding' && vault.notes) {
    const eta = vault.eta_s === null ? '' : `, ${minutes(vault.eta_s)} left`;
    const text = `Learning what notes mean: ${vault.embedded} of ${vault.notes}${eta}.`;
    return banner('indexing', text, { progress: vault.embedded / vault.notes });
  }
  if (vault.state === 'away' || vault.state === 'broken') {
    return banner('failed', sentence(vault.why), { command: commandIn(vault.hint) });
  }
  return null;
}

export function upCommand(root: string): string {
  return `vaultrag up ${quoted(root)}`;
}

/** A hint that is a command can be copied; one that is advice in words cannot be run. */
export function commandIn(hint: string): string {
  return /^(vaultrag|ollama|pipx|pip|systemctl|chmod|less|kill)\b/.test(hint) ? hint : '';
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function worst(answer: Answer): Reason | undefined {
  return answer.reasons.find((reason) => reason.state === answer.state) ?? answer.reasons[0];
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

function minutes(seconds: number): string {
  return seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

function banner(kind: Banner['kind'], text: string, more: Partial<Banner> = {}): Banner {
  return { kind, text, command: '', progress: null, action: null, ...more };
}
