// Package moves reads the addresses that arguments contain: in moved, removed and import
// blocks, and in replace_triggered_by.
package moves
