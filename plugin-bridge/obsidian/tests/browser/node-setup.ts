// The connection asks the window for its timers; here Node's own are the window's.
Object.assign(globalThis, { window: globalThis });
