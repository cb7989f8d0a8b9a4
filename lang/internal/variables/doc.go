// Package variables reads the declarations of variables and inputs, and finds their values.
//
// Declare reads one declaration. The variables of the root module get values from outside:
// Outside.Give notes which source gives a value to which variable, and Outside.Value
// evaluates it. The last source wins: the default, the environment, files of the directory,
// then options of the command line in their order. Values that a module block or a service
// passes are converted with Fit.
package variables
