/** The state of things in a few letters, for the status bar. */

import type { DaemonStatus } from '../../../protocol/protocol';
import type { ConnectionState } from '../connection/connection';

export interface StatusText {
  /** Names the state, for styles and tests. */
  kind: 'ready' | 'busy' | 'words' | 'off' | 'wrong';
  text: string;
  tooltip: string;
}

export function statusText(connection: ConnectionState, status: DaemonStatus | null, vaultId: string): StatusText {
  switch (connection.kind) {
    case 'idle':
    case 'connecting':
      return { kind: 'busy', text: 'Search: connecting', tooltip: 'Connecting to the search service' };
    case 'offline':
      return { kind: 'off', text: 'Search: off', tooltip: `${connection.why}. Click to see what helps.` };
    case 'unserved':
      return { kind: 'off', text: 'Search: not this vault', tooltip: 'The search service does not know this vault yet.' };
    case 'incompatible':
      return { kind: 'wrong', text: 'Search: wrong version', tooltip: connection.why };
    case 'closed':
      return { kind: 'off', text: '', tooltip: '' };
    case 'ready':
      return served(status, vaultId, connection.welcome.version);
  }
}

function served(status: DaemonStatus | null, vaultId: string, version: string): StatusText {
  const vault = status?.vaults.find((one) => one.id === vaultId) ?? status?.vaults[0];
  if (!status || !vault) return { kind: 'ready', text: 'Search: ready', tooltip: `vaultrag ${version}` };
  const { embedder } = status;
  const model = embedder.model ? `, ${embedder.model}` : '';
  const tooltip = `vaultrag ${version}: ${vault.notes} notes${model}`;
  switch (vault.state) {
    case 'starting':
    case 'indexing':
      return { kind: 'busy', text: `Search: reading, ${vault.to_read} to go`, tooltip };
    case 'embedding': {
      const share = vault.notes ? Math.floor((100 * vault.embedded) / vault.notes) : 0;
      return { kind: 'busy', text: `Search: learning, ${share} %`, tooltip };
    }
    case 'away':
    case 'broken':
      return { kind: 'wrong', text: `Search: ${vault.state}`, tooltip: vault.why };
  }
  if (['off', 'down', 'missing', 'broken', 'waiting'].includes(embedder.state)) {
    return { kind: 'words', text: 'Search: words only', tooltip: embedder.why || tooltip };
  }
  return { kind: 'ready', text: 'Search: ready', tooltip };
}
