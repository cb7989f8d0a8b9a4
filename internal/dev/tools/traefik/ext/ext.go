// Package ext stands for a module of Traefik that the module proxy does not have. Traefik's own has fields for
// other editions of Traefik.
package ext

// HTTP has no fields.
type HTTP struct{}

// Router has no fields.
type Router struct{}

// RouterIng has no fields.
type RouterIng struct{}

// ToRouter returns a Router.
func (RouterIng) ToRouter() Router { return Router{} }
