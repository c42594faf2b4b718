/** A window of the app with a vault, and the plugin in it. Used by vitest and, bundled, in a real browser. */

import { App, FileSystemAdapter, MarkdownView, WorkspaceLeaf, type Editor, type TFile } from 'obsidian-test-mocks/obsidian';
import { scopes, type Scope } from './obsidian';

type Any = any; // eslint-disable-line @typescript-eslint/no-explicit-any

export interface Opened {
  path: string;
  where: unknown;
  line: number | undefined;
  active: boolean | undefined;
}

/** Where the notes are: their texts by path, and the vault's folder on disk. */
export interface VaultOnDisk {
  root: string;
  notes: Record<string, string>;
}

export class Window {
  readonly app: Any;
  readonly opened: Opened[] = [];
  plugin: Any;
  linkStyle: 'wiki' | 'markdown' = 'wiki';
  private readonly sideLeaves = new Map<string, Promise<Any>>();

  constructor(vault: VaultOnDisk) {
    const adapter = FileSystemAdapter.create__(vault.root);
    const app: Any = App.createConfigured__({ adapter: adapter.asOriginalType__(), files: vault.notes } as Any);
    this.app = app;
    const { workspace } = app;
    workspace.getLeaf = (where: unknown) => {
      const leaf: Any = WorkspaceLeaf.create2__(app);
      leaf.openFile = async (file: TFile, state: Any) => {
        this.opened.push({ path: file.path, where, line: state?.eState?.line, active: state?.active });
        if (state?.active !== false) await this.write(file.path);
      };
      return leaf;
    };
    workspace.ensureSideLeaf = (type: string) => {
      const leaf = this.sideLeaves.get(type) ?? this.mount(type);
      this.sideLeaves.set(type, leaf);
      return leaf;
    };
    workspace.revealLeaf = async () => undefined;
    workspace.getActiveViewOfType = () => workspace.activeLeaf?.view ?? null;
    app.scope = scopes[0] ?? null;
    app.fileManager.generateMarkdownLink = (file: TFile, _source: string, subpath = '') =>
      this.linkStyle === 'wiki'
        ? `[[${file.basename}${subpath}]]`
        : `[${file.basename}](${encodeURI(file.path)}${encodeURI(subpath)})`;
  }

  /** Load the plugin, as the app does once its layout is ready. */
  async load(plugin: new (app: Any, manifest: Any) => Any, data: object = {}): Promise<Any> {
    this.plugin = new plugin(this.app, { id: 'vaultrag', name: 'Vaultrag', version: '0.1.0' });
    this.plugin.data__ = data;
    this.plugin.loaded__ = true;
    await this.plugin.onload();
    for (const child of this.plugin.children__) child.load();
    this.app.workspace.setLayoutReady__();
    this.app.workspace.layoutReady = true;
    return this.plugin;
  }

  async unload(): Promise<void> {
    this.plugin?.unload();
    for (const leaf of this.sideLeaves.values()) {
      const { view } = await leaf;
      view.unload();
      view.containerEl.remove();
    }
  }

  /** Take a view of the plugin into the page. */
  private async mount(type: string): Promise<Any> {
    const leaf: Any = WorkspaceLeaf.create2__(this.app);
    const view = this.plugin.views__.get(type)(leaf);
    leaf.view = view;
    view.contentEl.addClass('view-content');
    view.containerEl.addClass('workspace-leaf-content');
    activeDocument.body.append(view.containerEl);
    view.load();
    await view.onOpen?.();
    view.containerEl.addEventListener('focusin', () => view.scope && push(view.scope));
    view.containerEl.addEventListener('focusout', () => view.scope && drop(view.scope));
    return leaf;
  }

  /** Open a note for writing, with the cursor at its end; returns its editor. */
  async write(path: string): Promise<Editor> {
    const file = this.app.vault.getFileByPath(path);
    const leaf: Any = WorkspaceLeaf.create2__(this.app);
    const view: Any = MarkdownView.create2__(leaf);
    view.file = file;
    view.editor.setValue(await this.app.vault.cachedRead(file));
    const last = view.editor.lastLine();
    view.editor.setCursor({ line: last, ch: view.editor.getLine(last).length });
    leaf.view = view;
    const { workspace } = this.app;
    workspace.activeLeaf = leaf;
    workspace.activeEditor = { editor: view.editor, file };
    workspace.getActiveFile = () => file;
    workspace.getMostRecentLeaf = () => leaf;
    workspace.trigger('file-open', file);
    return view.editor;
  }

  run(command: string): void {
    this.plugin.commands__.get(command).callback();
  }

  async pane(type: string): Promise<Any> {
    return (await this.app.workspace.ensureSideLeaf(type)).view;
  }
}

function push(scope: Scope): void {
  if (scopes.at(-1) !== scope) scopes.push(scope);
}

function drop(scope: Scope): void {
  const at = scopes.lastIndexOf(scope);
  if (at >= 0) scopes.splice(at, 1);
}
