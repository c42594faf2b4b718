-- The commands. Nothing is loaded and no connection made before one is used.

if vim.g.loaded_vaultrag then
  return
end
vim.g.loaded_vaultrag = true

vim.api.nvim_create_user_command("VaultSearch", function(args)
  require("vaultrag").search(args.args, { quickfix = args.bang })
end, { nargs = "*", bang = true, desc = "Search the vault; with ! into the quickfix list" })

vim.api.nvim_create_user_command("VaultRelated", function(args)
  require("vaultrag").related({ quickfix = args.bang })
end, { bang = true, desc = "Notes related to this one; with ! into the quickfix list" })

vim.api.nvim_create_user_command("VaultLink", function(args)
  require("vaultrag").link(args.args)
end, { nargs = "*", desc = "Search, and insert a link to the chosen note" })

vim.api.nvim_create_user_command("VaultHere", function(args)
  require("vaultrag").here(args.args)
end, { nargs = "*", desc = "Where words stand in this note, into the location list" })
