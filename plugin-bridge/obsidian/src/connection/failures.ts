/**
 * What can go wrong between a window and the daemon. Each failure has a sentence for a person and, where there is one,
 * the command that helps.
 */

import type { ERROR_CODES } from '../../../protocol/protocol';

export type Kind = keyof typeof ERROR_CODES | 'Offline' | 'Silent' | 'Incompatible' | 'Aborted' | 'Closed';

export class Failure extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
    readonly hint = '',
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = kind;
  }
}

/** The call was superseded or given up by this side; nobody needs to be told. */
export function isAbort(error: unknown): boolean {
  return error instanceof Failure && (error.kind === 'Aborted' || error.kind === 'Cancelled');
}

/** Any thrown value as a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('VaultragError', error instanceof Error ? error.message : String(error));
}

/** Why a socket could not be reached, in words. Node names the fault in `code`. */
export function unreachable(code: string, path: string): string {
  switch (code) {
    case 'ENOENT':
      return 'no daemon is running';
    case 'ECONNREFUSED':
      return 'no daemon is running any more; its socket was left behind';
    case 'EACCES':
    case 'EPERM':
      return `the socket ${path} may not be opened by this program`;
    default:
      return `the socket ${path} cannot be reached (${code || 'unknown fault'})`;
  }
}
