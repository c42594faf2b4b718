/** What all views of a window share: the connection, the settings, the vault's tags, the history. */

import { Notice, type App } from 'obsidian';
import { readFile } from 'fs/promises';
import { homedir } from 'os';
import { addresses, dataFolders, type Surroundings } from './connection/address';
import { Connection } from './connection/connection';
import { failureOf } from './connection/failures';
import { start, tail } from './service';
import type { Settings } from './settings';
import { remember } from './state/history';

const HISTORY_KEY = 'vaultrag-history';
const TAGS_FOR_MS = 30_000;
const START_AGAIN_MS = 60_000;

export class Session {
  readonly connection: Connection;
  private tagsAt = 0;
  private known: string[] = [];
  private startedAt = -Infinity;

  constructor(
    readonly app: App,
    public settings: Settings,
    /** The vault's folder. */
    readonly root: string,
    readonly platform: string,
    client: string,
    private readonly surroundings: Surroundings = here(platform),
  ) {
    this.connection = new Connection({
      find: () => addresses(this.surroundings, this.settings.socket),
      readToken: this.surroundings.read,
      vault: root,
      client,
      platform,
    });
  }

  get mac(): boolean {
    return this.platform === 'darwin';
  }

  /** The daemon's name for this vault; empty while not connected. */
  get vaultId(): string {
    const { state } = this.connection;
    return state.kind === 'ready' ? state.welcome.vault : '';
  }

  /** A person asks for something: connect at once, and start the service where that is wished. */
  async wake(): Promise<void> {
    await this.connection.wake();
    const due = performance.now() - this.startedAt > START_AGAIN_MS;
    if (this.connection.state.kind === 'offline' && this.settings.startWhenNeeded && due) await this.start();
  }

  /** Start the service, and connect; says in a notice what went wrong. */
  async start(): Promise<void> {
    this.startedAt = performance.now();
    try {
      await start(this.settings.program, this.platform, this.root);
      await this.connection.restart();
    } catch (error) {
      const { message, hint } = failureOf(error);
      new Notice(`The search service did not start: ${message}.${hint ? `\n${hint}` : ''}`, 10_000);
    }
  }

  /** End the service, if it runs, and start it anew. */
  async restartService(): Promise<void> {
    if (this.connection.state.kind === 'ready') {
      try {
        await this.connection.call('shutdown', {});
      } catch {
        // It may end before it has answered.
      }
    }
    await this.start();
  }

  async serve(): Promise<void> {
    try {
      await this.connection.serve();
    } catch (error) {
      new Notice(`The search service does not take this vault: ${failureOf(error).message}.`, 10_000);
    }
  }

  /** The vault's tags, the most used first; those known before when the service is away. */
  async tags(): Promise<string[]> {
    if (Date.now() - this.tagsAt < TAGS_FOR_MS) return this.known;
    try {
      this.known = (await this.connection.call('tags', {})).map((one) => one.tag);
      this.tagsAt = Date.now();
    } catch {
      // Completion is a help: without it a query is typed in full.
    }
    return this.known;
  }

  get history(): string[] {
    const kept: unknown = this.app.loadLocalStorage(HISTORY_KEY);
    return Array.isArray(kept) ? kept.filter((query): query is string => typeof query === 'string') : [];
  }

  remember(query: string): void {
    this.app.saveLocalStorage(HISTORY_KEY, remember(this.history, query));
  }

  /** The end of the daemon's log, where it writes one itself. */
  async log(): Promise<string | null> {
    for (const folder of dataFolders(this.surroundings)) {
      const text = await tail(`${folder}/daemon.log`);
      if (text !== null) return text;
    }
    return null;
  }

  close(): void {
    this.connection.close();
  }
}

function here(platform: string): Surroundings {
  return {
    env: process.env,
    platform,
    home: homedir(),
    read: async (path) => {
      try {
        return await readFile(path, 'utf8');
      } catch {
        return null;
      }
    },
  };
}
