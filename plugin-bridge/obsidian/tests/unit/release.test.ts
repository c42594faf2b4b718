/** The release build: the same bytes each time and from wherever, and nothing in it that the directory forbids. */

import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const HERE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const folders: string[] = [];

async function scratch(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'vp-'));
  folders.push(folder);
  return folder;
}

async function built(root: string): Promise<string> {
  const file = path.join(await scratch(), 'main.js');
  execFileSync(process.execPath, [path.join(root, 'esbuild.config.mjs'), file], { cwd: await scratch() });
  return await readFile(file, 'utf8');
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('the release build', () => {
  it('is the same when it is made again, and somewhere else', async () => {
    const elsewhere = path.join(await scratch(), 'a/b');
    await cp(path.join(HERE, '../protocol'), path.join(elsewhere, 'protocol'), { recursive: true });
    for (const part of ['src', 'esbuild.config.mjs', 'package.json', 'tsconfig.json']) {
      await cp(path.join(HERE, part), path.join(elsewhere, 'obsidian', part), { recursive: true });
    }
    await symlink(path.join(HERE, 'node_modules'), path.join(elsewhere, 'obsidian/node_modules'));
    const first = await built(HERE);
    expect((await built(HERE)) === first).toBe(true);
    expect((await built(path.join(elsewhere, 'obsidian'))) === first).toBe(true);
  });

  it('asks for nothing but the app and Node, reaches no network, and runs no text as code', async () => {
    const code = await built(HERE);
    const required = [...code.matchAll(/require\("([^"]+)"\)/g)].map((match) => match[1]);
    expect([...new Set(required)].sort()).toEqual(['child_process', 'fs/promises', 'net', 'obsidian', 'os']);
    expect(code).not.toMatch(/\beval\(|new Function|fetch\(|requestUrl|XMLHttpRequest|WebSocket|https?:\/\/(?!json-schema)/);
    expect(code).not.toMatch(/\bimport\(/);
    expect(code).not.toMatch(/console\.log|innerHTML/);
  });
});
