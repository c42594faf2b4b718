/** What a person can set, with its defaults. Nothing that is read from disk is believed unseen. */

export interface Settings {
  /** Path of the socket; empty: it is found. */
  socket: string;
  /** The `vaultrag` program; empty: the usual places are looked at. */
  program: string;
  /** Start the service when a search finds it off. */
  startWhenNeeded: boolean;
  /** Hits at most. */
  limit: number;
  /** Show the selected note beside the list. */
  preview: boolean;
  /** Leave out of the related notes those that are linked already. */
  excludeLinked: boolean;
  /** Complete links by meaning after `[[?`. */
  linkCompletion: boolean;
}

export const DEFAULTS: Readonly<Settings> = {
  socket: '',
  program: '',
  startWhenNeeded: false,
  limit: 30,
  preview: true,
  excludeLinked: true,
  linkCompletion: true,
};

export function settingsFrom(data: unknown): Settings {
  const read = { ...DEFAULTS } as Record<string, unknown>;
  if (typeof data === 'object' && data !== null) {
    for (const [key, value] of Object.entries(data)) {
      if (key in DEFAULTS && typeof value === typeof read[key]) read[key] = value;
    }
  }
  const settings = read as unknown as Settings;
  return { ...settings, limit: bounded(settings.limit) };
}

function bounded(limit: number): number {
  return Number.isFinite(limit) ? Math.min(200, Math.max(5, Math.round(limit))) : DEFAULTS.limit;
}
