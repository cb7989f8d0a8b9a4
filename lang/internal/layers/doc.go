// Package layers puts blocks of a configuration over others before anything is evaluated.
//
// A definition that starts from another definition, the cloud's defaults and a service override
// blocks of a definition with blocks of the same type and label, and add others. [Bases] puts each
// definition over its base definitions. [Merge] puts the cloud's defaults or a service over a
// definition. Expressions of the upper layer then stand among those of the definition, each as a
// [LayerExpr], which names the environment that evaluates it (package eval). The evaluation sees
// blocks without the argument from.
package layers
