#import "Order.h"
#import <Foundation/Foundation.h>

#define MAX_ITEMS 10
static NSString *const kName = @"name";

@class Customer, Item;
@protocol OrderDelegate;

typedef NS_ENUM(NSInteger, OrderState) {
  OrderStateOpen,
  OrderStateClosed = 3,
};
typedef struct {
  int width;
  int height;
} Size;
typedef void (^Completion)(BOOL done);

/// Is told about orders.
@protocol OrderDelegate <NSObject>
@required
- (void)orderDidClose:(Order *)order;
@optional
- (BOOL)order:(Order *)order mayAdd:(Item *)item;
@end

@interface Order : NSObject <NSCopying> {
  @private
  int _count;
}
@property (nonatomic, copy) NSString *name;
@property (nonatomic, weak, nullable) id<OrderDelegate> delegate NS_AVAILABLE_IOS(9);
@property (copy) void (^done)(int);
+ (instancetype)orderWithName:(NSString *)name;
- (NSInteger)total;
@end

static int helper(int a) {
  return a + 1;
}

@implementation Order
@synthesize name = _name;

/// Makes an order.
+ (instancetype)orderWithName:(NSString *)name {
  Order *order = [[Order alloc] init];
  order.name = name;
  return order;
}

- (NSInteger)total {
  return helper(_count) + self.name.length;
}

- (void)addItem:(Item *)item count:(NSInteger)count {
  [self.delegate order:self mayAdd:item];
  [self total];
  [Order orderWithName:@"x"];
}
@end

@implementation Order (Printing)
- (NSString *)describe {
  return [NSString stringWithFormat:@"%@", self.name];
}
@end
