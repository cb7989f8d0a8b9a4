// Package consumers is for tests alone: they give plans, as JSON and as text, to programs that
// read Terraform's plans. The plans are golden files of internal/present/view.
package consumers
